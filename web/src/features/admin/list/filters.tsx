import { Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { Input, Select } from '~/kit/field'
import { TOOL_KINDS, TOOL_STATES, type ToolsAdminSearch } from '../search'

const PAUSE_MS = 250

interface Props {
  search: ToolsAdminSearch
  onChange: (change: Partial<ToolsAdminSearch>) => void
}

export function Filters({ search, onChange }: Props) {
  const { t } = useTranslation('admin')
  return (
    <search className="flex flex-wrap gap-2">
      <Words q={search.q} onChange={(q) => onChange({ q })} />
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

/** What is typed is shown at once, and searched for when the typing pauses. */
function Words({ q = '', onChange }: { q?: string; onChange: (q?: string) => void }) {
  const { t } = useTranslation('admin')
  const [typed, setTyped] = useState(q)
  const [shown, setShown] = useState(q)
  // The address changed by other means, such as the back button.
  if (shown !== q) {
    setShown(q)
    setTyped(q)
  }
  useEffect(() => {
    if (typed === q) return
    const timer = setTimeout(() => {
      setShown(typed)
      onChange(typed || undefined)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed, q, onChange])
  return (
    <div className="relative min-w-48 flex-1">
      <Search aria-hidden className="absolute top-2.5 left-3 size-4 text-muted" />
      <Input
        type="search"
        aria-label={t('list.search')}
        placeholder={t('list.search')}
        className="pl-9"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </div>
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
