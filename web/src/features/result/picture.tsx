import { useMemo, useRef, useState } from 'react'

import { useTranslation } from '~/i18n'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { useTheme } from '~/theme'
import type { Block } from './blocks'
import { axes, type Drawing, radar } from './chart-options'
import { useAround } from './context'
import { DataTable } from './data-table'
import { table } from './rows'
import { Section } from './section'
import { type Series, series } from './series'
import { Value } from './value'
import { label, number } from './words'

const Chart = lazyPart(
  () => import('./chart'),
  (module) => module.default,
)

/** A chart or a radar, with its numbers as a table one click away. */
export function Picture({ block }: { block: Block }) {
  const { t } = useTranslation('result')
  const [asTable, setAsTable] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const { value, config, hints, label: name } = block
  const drawn = useMemo(() => series(value, config), [value, config])
  const rows = useMemo(() => table(value), [value])
  const row = hints.below('*')
  if (!drawn || !rows) {
    return (
      <Section label={name} value={value} table={rows}>
        <Value value={value} hints={hints} />
      </Section>
    )
  }
  return (
    <Section
      label={name}
      value={value}
      table={rows}
      picture={() => box.current?.querySelector('svg')}
      asTable={asTable}
      onAsTable={setAsTable}
    >
      {asTable ? (
        <DataTable table={rows} hints={row} name={name} />
      ) : (
        <div ref={box} className="min-w-0">
          <Drawn block={block} series={drawn} />
        </div>
      )}
      {!asTable && drawn.categories.length < drawn.total && (
        <p className="text-xs text-muted">
          {t('points_shown', { shown: drawn.categories.length, count: drawn.total })}
        </p>
      )}
    </Section>
  )
}

function Drawn({ block, series }: { block: Block; series: Series }) {
  const theme = useTheme()
  const { currency } = useAround()
  const describe = useDescription()
  const { language } = useTranslation()
  const { kind, config, hints } = block
  const option = useMemo(() => {
    const description = describe(block, series, currency)
    const drawing: Drawing = { series, hints: hints.below('*'), theme, currency, description }
    const bound = (value: unknown) => (typeof value === 'number' ? value : undefined)
    if (kind === 'radar') {
      return radar(drawing, { min: bound(config.min), max: bound(config.max) })
    }
    return axes(config.chart === 'bar' ? 'bar' : 'line', drawing)
    // The texts and numbers inside depend on the language.
  }, [block, series, theme, currency, language])
  const height = heightOf(block, series)
  return (
    <Chart
      fallback={
        <div style={{ height }}>
          <Skeleton className="h-full" />
        </div>
      }
      option={option}
      height={height}
    />
  )
}

function heightOf({ kind, config }: Block, { categories, lines }: Series): number {
  if (kind === 'radar') return 380
  const lying = config.chart === 'bar' && categories.some((name) => name.length > 12)
  if (!lying) return 280
  return Math.max(200, 110 + categories.length * (16 + lines.length * 14))
}

/** What a chart shows, in a sentence per line. */
function useDescription() {
  const { t } = useTranslation('result')
  return (block: Block, { lines, categories }: Series, currency?: string) => {
    const row = block.hints.below('*')
    const told = lines.map(({ key, values }) => {
      const { unit, title } = row.below(key).hint
      const known = values.filter((value) => value !== null)
      const show = (value: number) => number(value, unit, currency)
      return t('line_described', {
        name: label(key, { title, word: false }),
        first: show(known[0] ?? 0),
        last: show(known.at(-1) ?? 0),
        least: show(Math.min(...known)),
        most: show(Math.max(...known)),
      })
    })
    return [t('chart_described', { name: block.label, count: categories.length }), ...told].join(
      ' ',
    )
  }
}
