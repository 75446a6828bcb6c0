import { useTranslation } from '~/i18n'
import { Select } from '~/kit/field'
import { SearchBox } from '~/kit/search-box'
import { TOOL_KINDS, TOOL_STATES, type ToolsAdminSearch } from '../search'

interface Props {
  search: ToolsAdminSearch
  onChange: (change: Partial<ToolsAdminSearch>) => void
}

export function Filters({ search, onChange }: Props) {
  const { t } = useTranslation('admin')
  return (
    <search className="flex flex-wrap gap-2">
      <SearchBox label={t('list.search')} q={search.q} onSearch={(q) => onChange({ q })} />
      <Choice
        label={t('list.kind')}
        words={TOOL_KINDS}
        text={(kind) => t(`kind.${kind}`)}
        value={search.kind}
        onChange={(kind) => onChange({ kind })}
      />
      <Choice
        label={t('list.status')}
        words={TOOL_STATES}
        text={(status) => t(`status.${status}`)}
        value={search.status}
        onChange={(status) => onChange({ status })}
      />
    </search>
  )
}

interface ChoiceProps<T extends string> {
  label: string
  words: readonly T[]
  text: (word: T) => string
  value?: T
  onChange: (value?: T) => void
}

function Choice<T extends string>({ label, words, text, value, onChange }: ChoiceProps<T>) {
  const { t } = useTranslation('admin')
  return (
    <Select
      aria-label={label}
      className="w-auto"
      value={value ?? ''}
      onChange={(event) => onChange(words.find((word) => word === event.target.value))}
    >
      <option value="">{t('list.any', { what: label })}</option>
      {words.map((word) => (
        <option key={word} value={word}>
          {text(word)}
        </option>
      ))}
    </Select>
  )
}
