import { Check, ChevronDown, X } from 'lucide-react'
import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { type Choice, choices, FACETS, type Facet } from './library-facets'
import type { ToolItem } from './library-queries'
import type { LibrarySearch } from './search'

const SHOWN = 8

interface Props {
  tools: ToolItem[]
  search: LibrarySearch
  onChange: (change: Partial<LibrarySearch>) => void
}

/** A facet's value as people read it. Categories and tags are the tenant's own words. */
function useLabel(): (facet: Facet, value: string) => string {
  const { t } = useTranslation('library')
  return (facet, value) =>
    facet === 'category' || facet === 'tag'
      ? value
      : t(`${facet}.${value}`, { defaultValue: value })
}

export function Filters(props: Props) {
  const { t } = useTranslation('library')
  const [open, setOpen] = useState(false)
  const active = FACETS.filter((facet) => props.search[facet] !== undefined).length
  return (
    <aside aria-label={t('filters')} className="min-w-0">
      <Button
        className="w-full justify-between lg:hidden"
        aria-expanded={open}
        aria-controls="facets"
        onClick={() => setOpen(!open)}
      >
        <span>{active > 0 ? t('filters_active', { count: active }) : t('filters')}</span>
        <ChevronDown aria-hidden className={cn(open && 'rotate-180')} />
      </Button>
      <div id="facets" className={cn('mt-4 gap-5 lg:mt-0 lg:grid', open ? 'grid' : 'hidden')}>
        {FACETS.map((facet) => (
          <FacetGroup key={facet} facet={facet} {...props} />
        ))}
      </div>
    </aside>
  )
}

function FacetGroup({ facet, tools, search, onChange }: Props & { facet: Facet }) {
  const { t } = useTranslation('library')
  const label = useLabel()
  const [all, setAll] = useState(false)
  const found = choices(tools, search, facet)
  if (found.length === 0) return null
  const chosen = search[facet]
  const shown = all ? found : found.filter(({ value }, i) => i < SHOWN || value === chosen)
  return (
    <section aria-labelledby={`facet-${facet}`} className="grid min-w-0 gap-1">
      <h2 id={`facet-${facet}`} className="px-2 text-xs font-semibold text-muted">
        {t(`facet.${facet}`)}
      </h2>
      <ul>
        {shown.map((choice) => (
          <FacetChoice
            key={choice.value}
            choice={choice}
            label={label(facet, choice.value)}
            chosen={chosen === choice.value}
            onToggle={() =>
              onChange({ [facet]: chosen === choice.value ? undefined : choice.value })
            }
          />
        ))}
      </ul>
      {found.length > shown.length && (
        <Button
          tone="quiet"
          size="small"
          className="justify-start px-2"
          onClick={() => setAll(true)}
        >
          {t('facet_more', { count: found.length - shown.length })}
        </Button>
      )}
    </section>
  )
}

function FacetChoice({
  choice: { count },
  label,
  chosen,
  onToggle,
}: {
  choice: Choice
  label: string
  chosen: boolean
  onToggle: () => void
}) {
  const { t } = useTranslation('library')
  return (
    <li>
      <button
        type="button"
        aria-pressed={chosen}
        onClick={onToggle}
        className={cn(
          'flex min-h-7 w-full items-center gap-2 rounded-md px-2 py-1 text-left hover:bg-raised',
          chosen && 'bg-accent-soft font-medium text-accent hover:bg-accent-soft',
        )}
      >
        {chosen && <Check aria-hidden className="size-3.5 shrink-0" />}
        <span className="min-w-0 flex-1 break-words">{label}</span>
        <span className={cn('text-xs tabular-nums', !chosen && 'text-muted')}>
          <span aria-hidden>{count}</span>
          <span className="sr-only">{t('facet_count', { count })}</span>
        </span>
      </button>
    </li>
  )
}

/** The filters that are on, each with a way to take it back. */
export function ActiveFilters({
  search,
  onChange,
  onClear,
}: Omit<Props, 'tools'> & { onClear: () => void }) {
  const { t } = useTranslation('library')
  const label = useLabel()
  const active = FACETS.filter((facet) => search[facet] !== undefined)
  if (active.length === 0) return null
  return (
    <ul aria-label={t('active_filters')} className="flex min-w-0 flex-wrap items-center gap-2">
      {active.map((facet) => (
        <li key={facet} className="min-w-0">
          <Button
            size="small"
            className="h-auto min-h-8 max-w-full py-1 whitespace-normal"
            aria-label={t('remove_filter', {
              facet: t(`facet.${facet}`),
              value: label(facet, search[facet] ?? ''),
            })}
            onClick={() => onChange({ [facet]: undefined })}
          >
            <span className="min-w-0 break-words">
              <span className="text-muted">{t(`facet.${facet}`)}:</span>{' '}
              {label(facet, search[facet] ?? '')}
            </span>
            <X aria-hidden />
          </Button>
        </li>
      ))}
      <li>
        <Button size="small" tone="quiet" onClick={onClear}>
          {t('clear_filters')}
        </Button>
      </li>
    </ul>
  )
}
