import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { recentRuns } from '~/api/runs'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Field, Input, Select } from '~/kit/field'
import { MODES, RUN_STATES, type RunsSearch, SOURCES } from './search'
import { fromLocal, RANGES, toLocal } from './time-range'

interface Props {
  search: RunsSearch
  onChange: (change: Partial<RunsSearch>) => void
}

export function isFiltered(search: RunsSearch): boolean {
  return Object.entries(search).some(([key, value]) => key !== 'live' && value !== undefined)
}

export function RunsFilters({ search, onChange, onClear }: Props & { onClear: () => void }) {
  const { t } = useTranslation(['runs', 'result'])
  return (
    <section
      aria-label={t('filters')}
      className="grid grid-cols-2 items-end gap-3 md:grid-cols-[repeat(5,minmax(0,1fr))_auto]"
    >
      <ToolFilter key={search.tool} search={search} onChange={onChange} />
      <Choice
        name="status"
        value={search.status}
        words={RUN_STATES}
        label={(word) => t(`result:status.${word}`)}
        onChange={(status) => onChange({ status })}
      />
      <Choice
        name="source"
        value={search.source}
        words={SOURCES}
        label={(word) => t(`source.${word}`)}
        onChange={(source) => onChange({ source })}
      />
      <Choice
        name="mode"
        value={search.mode}
        words={MODES}
        label={(word) => t(`mode.${word}`)}
        onChange={(mode) => onChange({ mode })}
      />
      <TimeFilter search={search} onChange={onChange} />
      {isFiltered(search) && (
        <Button
          tone="quiet"
          className="col-span-2 justify-self-start md:col-span-1"
          onClick={onClear}
        >
          {t('clear_filters')}
        </Button>
      )}
      {search.session_id && (
        <p className="col-span-full text-muted">
          {t('of_session')} <code className="break-all">{search.session_id}</code>
        </p>
      )}
    </section>
  )
}

/** Takes what is typed when the person is done with it, and a suggestion at once. */
function ToolFilter({ search, onChange }: Props) {
  const { t } = useTranslation('runs')
  const { data: runs } = useQuery(recentRuns)
  const slugs = [...new Set(runs?.map((run) => run.tool))].sort()
  const [text, setText] = useState(search.tool ?? '')
  const take = (text: string) => onChange({ tool: text.trim() || undefined })
  return (
    <Field id="tool" label={t('filter.tool')}>
      <Input
        id="tool"
        list="tools-of-runs"
        autoComplete="off"
        placeholder={t('filter.any')}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          if (slugs.includes(event.target.value) || event.target.value === '') {
            take(event.target.value)
          }
        }}
        onBlur={() => take(text)}
        onKeyDown={(event) => event.key === 'Enter' && take(text)}
      />
      <datalist id="tools-of-runs">
        {slugs.map((slug) => (
          <option key={slug} value={slug} />
        ))}
      </datalist>
    </Field>
  )
}

interface ChoiceProps<T extends string> {
  name: string
  value: T | undefined
  words: readonly T[]
  label: (word: T) => string
  onChange: (value: T | undefined) => void
}

function Choice<T extends string>({ name, value, words, label, onChange }: ChoiceProps<T>) {
  const { t } = useTranslation('runs')
  return (
    <Field id={name} label={t(`filter.${name}`)}>
      <Select
        id={name}
        value={value ?? ''}
        onChange={(event) => onChange(words.find((word) => word === event.target.value))}
      >
        <option value="">{t('filter.any')}</option>
        {words.map((word) => (
          <option key={word} value={word}>
            {label(word)}
          </option>
        ))}
      </Select>
    </Field>
  )
}

function TimeFilter({ search, onChange }: Props) {
  const { t } = useTranslation('runs')
  const [picks, setPicks] = useState(search.since !== undefined || search.until !== undefined)
  const custom = search.range === undefined && picks
  const choose = (value: string) => {
    setPicks(value === 'custom')
    onChange({ range: RANGES.find((range) => range === value), since: undefined, until: undefined })
  }
  const bounds = [
    ['since', search.since],
    ['until', search.until],
  ] as const
  return (
    <>
      <Field id="range" label={t('filter.range')}>
        <Select
          id="range"
          value={custom ? 'custom' : (search.range ?? '')}
          onChange={(event) => choose(event.target.value)}
        >
          <option value="">{t('filter.any_time')}</option>
          {RANGES.map((range) => (
            <option key={range} value={range}>
              {t(`range.${range}`)}
            </option>
          ))}
          <option value="custom">{t('range.custom')}</option>
        </Select>
      </Field>
      {custom && (
        <div className="order-last col-span-full grid gap-3 sm:grid-cols-2 md:max-w-xl">
          {bounds.map(([name, value]) => (
            <Field key={name} id={name} label={t(`filter.${name}`)}>
              <Input
                id={name}
                type="datetime-local"
                value={toLocal(value)}
                onChange={(event) => onChange({ [name]: fromLocal(event.target.value) })}
              />
            </Field>
          ))}
        </div>
      )}
    </>
  )
}
