import { ChevronDown } from 'lucide-react'
import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { Input } from '~/kit/field'
import { list, same } from '../schema/json'
import { CheckboxesControl, type Option } from './choose'
import { shown as asText, type ControlProps } from './props'

/** From so many choices on, a search is quicker than looking. */
const SEARCH_FROM = 10

/** Several of many: what is chosen on a button, which opens the boxes of all choices. */
export function MultiSelectControl(props: ControlProps & { entries: Option[] }) {
  const { t } = useTranslation('form')
  const { id, entries, label, look, value, onBlur, describedBy } = props
  const [open, setOpen] = useState(false)
  const [search, setSearch] = useState('')
  const nameOf = (one: unknown) =>
    entries.find((entry) => same(entry.value, one))?.label ?? asText(one)
  const text = list(value).map(nameOf).join(', ')
  const shown = text || look.placeholder || t('choose')
  const found = (entry: Option) => entry.label.toLowerCase().includes(search.trim().toLowerCase())
  return (
    <div className="grid min-w-0 gap-2">
      <button
        id={id}
        type="button"
        aria-expanded={open}
        aria-controls={`${id}-choices`}
        aria-label={`${label}: ${shown}`}
        aria-describedby={describedBy || undefined}
        className="flex min-h-9 w-full items-center justify-between gap-2 rounded-md border border-line-strong bg-ground px-3 py-1.5 text-left text-sm"
        onClick={() => setOpen(!open)}
        onBlur={onBlur}
      >
        <span className={text ? 'min-w-0 break-words' : 'min-w-0 text-muted'}>{shown}</span>
        <ChevronDown aria-hidden className="size-4 shrink-0 text-muted" />
      </button>
      <div id={`${id}-choices`} hidden={!open} className="grid min-w-0 gap-2">
        {entries.length >= SEARCH_FROM && (
          <Input
            type="search"
            aria-label={t('search_in', { label })}
            placeholder={t('search')}
            value={search}
            onChange={(event) => setSearch(event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
          />
        )}
        <div className="max-h-60 overflow-y-auto rounded-md border border-line px-3">
          <CheckboxesControl {...props} id={`${id}-boxes`} shown={found} />
        </div>
      </div>
    </div>
  )
}
