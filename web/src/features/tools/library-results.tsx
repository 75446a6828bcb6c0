import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { CopyButton } from '~/kit/copy'
import { Empty, Skeleton } from '~/kit/states'
import { FACETS } from './library-facets'
import { ToolGrid } from './library-grid'
import type { Health } from './library-health'
import type { ToolItem } from './library-queries'
import { ToolTable } from './library-table'
import type { LibrarySearch } from './search'
import type { Shelf } from './shelf'

const STEP = 60

/** The tools found. Only what a person has scrolled to is drawn, so that thousands are no burden. */
export function LibraryResults({
  tools,
  health,
  view,
  shelf,
}: {
  tools: ToolItem[]
  health: Map<string, Health>
  view: 'grid' | 'table'
  shelf: Shelf
}) {
  const { t } = useTranslation('library')
  const [count, setCount] = useState(STEP)
  const end = useRef<HTMLDivElement>(null)
  const more = count < tools.length
  useEffect(() => {
    const mark = end.current
    if (!mark || !more) return
    const observer = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting && setCount((count) => count + STEP),
      { rootMargin: '600px' },
    )
    observer.observe(mark)
    return () => observer.disconnect()
    // A mark that is still in sight after the last step has to be looked at anew.
  }, [more, count])
  const shown = tools.slice(0, count)
  return (
    <div className="grid min-w-0 gap-4">
      {view === 'table' ? (
        <ToolTable tools={shown} health={health} />
      ) : (
        <ToolGrid tools={shown} health={health} shelf={shelf} />
      )}
      <div ref={end}>
        {more && (
          <Button className="w-full" onClick={() => setCount(count + STEP)}>
            {t('show_more', { count: tools.length - count })}
          </Button>
        )}
      </div>
    </div>
  )
}

/** What comes, as a shadow: the filters beside the tools, or above them on a phone. */
export function LibraryLoading({ view }: { view: 'grid' | 'table' }) {
  const { t } = useTranslation()
  return (
    <div
      role="status"
      aria-label={t('loading')}
      className="grid min-w-0 gap-5 lg:grid-cols-[14rem_minmax(0,1fr)]"
    >
      <Skeleton className="h-9 lg:h-full" />
      {view === 'table' ? (
        <Skeleton className="h-[70dvh]" />
      ) : (
        <div className="grid grid-cols-[repeat(auto-fill,minmax(min(18rem,100%),1fr))] gap-3">
          {Array.from({ length: 12 }, (_, place) => (
            <Skeleton key={place} className="h-40" />
          ))}
        </div>
      )}
    </div>
  )
}

/** A catalogue without any tool: authors make the first, others ask for it. */
export function NoTools() {
  const { t } = useTranslation('library')
  const authors = useMay('tools.tenant.create')
  return (
    <Empty title={t('empty.title')}>
      {authors ? (
        <div className="grid justify-items-center gap-4">
          <p>{t('empty.author')}</p>
          <Button asChild tone="primary">
            <Link to="/admin/tools/new" search={{}}>
              {t('empty.create')}
            </Link>
          </Button>
        </div>
      ) : (
        <div className="grid justify-items-center gap-4">
          <p>{t('empty.other')}</p>
          <CopyButton label={t('empty.copy')} text={t('empty.message', { url: location.href })} />
        </div>
      )}
    </Empty>
  )
}

interface NoMatchProps {
  search: LibrarySearch
  onClear: () => void
}

/** Says what nothing fits: the search, the filters, or both. */
export function NoMatch({ search, onClear }: NoMatchProps) {
  const { t } = useTranslation('library')
  const isFiltered = FACETS.some((facet) => search[facet] !== undefined)
  const why = !search.q ? 'filters' : isFiltered ? 'both' : 'search'
  return (
    <Empty title={t('no_match.title')}>
      <div className="grid justify-items-center gap-4">
        <p className="max-w-full break-words">{t(`no_match.${why}`, { q: search.q })}</p>
        <Button tone="primary" onClick={onClear}>
          {t(`no_match.clear_${why}`)}
        </Button>
      </div>
    </Empty>
  )
}
