import { actorOf } from '~/api/actor'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Select } from '~/kit/field'
import { useNaming } from '~/kit/people'
import type { Approval } from './approval-queries'
import { counts } from './groups'
import type { ApprovalsSearch } from './search'
import type { AskingTool } from './use-tools'

interface Props {
  /** All that were read, whatever the filters say. */
  approvals: Approval[]
  toolOf: (approval: Approval) => AskingTool | undefined
  search: ApprovalsSearch
  onChange: (change: Partial<ApprovalsSearch>) => void
}

/** Narrows the list to a tool, or to who asks. */
export function ApprovalsFilters({ approvals, toolOf, search, onChange }: Props) {
  const { t } = useTranslation('approvals')
  const name = useNaming()
  const names = new Map(approvals.map((one) => [one.tool, toolOf(one)?.name ?? one.tool]))
  const isFiltered = search.tool !== undefined || search.by !== undefined
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Choice
        id="filter-tool"
        label={t('filter_tool')}
        words={approvals.map(({ tool }) => tool)}
        nameOf={(tool) => names.get(tool) ?? tool}
        value={search.tool}
        onChange={(tool) => onChange({ tool })}
      />
      <Choice
        id="filter-by"
        label={t('filter_by')}
        words={approvals.map(({ requested_by }) => requested_by)}
        nameOf={(by) => name(actorOf(by))}
        value={search.by}
        onChange={(by) => onChange({ by })}
      />
      {isFiltered && (
        <Button tone="quiet" onClick={() => onChange({ tool: undefined, by: undefined })}>
          {t('clear_filters')}
        </Button>
      )}
    </div>
  )
}

interface ChoiceProps {
  id: string
  label: string
  words: string[]
  nameOf: (word: string) => string
  value: string | undefined
  onChange: (value: string | undefined) => void
}

function Choice({ id, label, words, nameOf, value, onChange }: ChoiceProps) {
  const { t } = useTranslation('approvals')
  const found = counts(words)
  // What the address asks for is a choice also where nothing of it waits.
  if (value !== undefined && !words.includes(value)) found.push([value, 0])
  return (
    <label htmlFor={id} className="grid min-w-40 flex-1 gap-1 sm:max-w-64">
      <span className="text-xs font-medium text-muted">{label}</span>
      <Select
        id={id}
        value={value ?? ''}
        onChange={(event) => onChange(event.target.value || undefined)}
      >
        <option value="">{t('filter_any')}</option>
        {found.map(([word, count]) => (
          <option key={word} value={word}>
            {`${nameOf(word)} (${count})`}
          </option>
        ))}
      </Select>
    </label>
  )
}
