import { useMemo, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { cn } from '~/kit/cn'
import type { Block } from './blocks'
import { useAround } from './context'
import { DataTable } from './data-table'
import { table } from './rows'
import { Section } from './section'
import { ranking } from './series'
import { Value } from './value'
import { number } from './words'

/** At first only as many as fit on a screen. */
const SHOWN = 20

/** Names with bars, the first first; the whole of it as a table one click away. */
export function Ranking({ block }: { block: Block }) {
  const { t } = useTranslation('result')
  const { currency } = useAround()
  const [asTable, setAsTable] = useState(false)
  const { value, config, hints, label } = block
  const ranked = useMemo(() => ranking(value, config), [value, config])
  const rows = useMemo(() => table(value), [value])
  const row = hints.below('*')
  if (!ranked || !rows) {
    return (
      <Section label={label} value={value} table={rows}>
        <Value value={value} hints={hints} />
      </Section>
    )
  }
  const measured = typeof config.value === 'string' ? row.below(config.value).hint : undefined
  const grouped = typeof config.group === 'string' ? row.below(config.group) : undefined
  const named = typeof config.label === 'string' ? row.below(config.label) : undefined
  const most = Math.max(...ranked.map(({ value }) => Math.abs(value)), Number.MIN_VALUE)
  return (
    <Section label={label} value={value} table={rows} asTable={asTable} onAsTable={setAsTable}>
      {asTable ? (
        <DataTable table={rows} hints={row} name={label} />
      ) : (
        <>
          <ol className="grid gap-3">
            {ranked.slice(0, SHOWN).map(({ name, value, group }, index) => (
              <li key={index} className="grid min-w-0 grid-cols-[1.5rem_minmax(0,1fr)] gap-x-2">
                <span className="text-right text-muted tabular-nums">{index + 1}</span>
                <div className="grid min-w-0 gap-1">
                  <div className="flex flex-wrap items-baseline justify-between gap-x-3">
                    <span className="flex min-w-0 flex-wrap items-baseline gap-2">
                      <span className="min-w-0 font-medium break-words">
                        {named?.word(name) ?? name}
                      </span>
                      {group && <Badge>{grouped?.word(group) ?? group}</Badge>}
                    </span>
                    <span className="ml-auto tabular-nums">
                      {number(value, measured?.unit, currency)}
                    </span>
                  </div>
                  <div aria-hidden className="h-2 overflow-hidden rounded-full bg-sunken">
                    <div
                      className={cn('h-full rounded-full', value < 0 ? 'bg-bad' : 'bg-accent')}
                      style={{ width: `${(100 * Math.abs(value)) / most}%` }}
                    />
                  </div>
                </div>
              </li>
            ))}
          </ol>
          {ranked.length > SHOWN && (
            <p className="text-xs text-muted">
              {t('points_shown', { shown: SHOWN, count: ranked.length })}
            </p>
          )}
        </>
      )}
    </Section>
  )
}
