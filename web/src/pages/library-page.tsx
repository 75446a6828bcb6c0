import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { LayoutGrid, Rows3 } from 'lucide-react'
import { useEffect, useMemo } from 'react'

import { recentRuns } from '~/api/runs'
import { translated } from '~/api/translated'
import { bestFirst, byName, FACETS, filtered, recentFirst } from '~/features/tools/library-facets'
import { ActiveFilters, Filters } from '~/features/tools/library-filters'
import { healthByTool } from '~/features/tools/library-health'
import { libraryTools } from '~/features/tools/library-queries'
import { LibraryLoading, LibraryResults, NoMatch, NoTools } from '~/features/tools/library-results'
import { Shelves } from '~/features/tools/library-shelves'
import type { LibrarySearch } from '~/features/tools/search'
import { useShelf } from '~/features/tools/shelf'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Select } from '~/kit/field'
import { KeySheet } from '~/kit/key-sheet'
import { useKeys } from '~/kit/keys'
import { marked, moveFocus } from '~/kit/move-focus'
import { SearchBox } from '~/kit/search-box'
import { Fault } from '~/kit/states'

const KEYS = [
  ['/', 'search'],
  ['j', 'next'],
  ['k', 'previous'],
  ['Enter', 'open'],
] as const

const route = getRouteApi('/inside/tools')

export default function LibraryPage() {
  const { t, language } = useTranslation('library')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const list = useInfiniteQuery(libraryTools)
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage])

  const { data: runs, isPending: isReadingRuns } = useQuery(recentRuns)
  const health = useMemo(() => healthByTool(runs ?? []), [runs])
  const tools = useMemo(() => {
    const all = list.data?.pages.flatMap((page) => page.items) ?? []
    return all.map((tool) => translated(tool, language))
  }, [list.data, language])
  const found = useMemo(() => {
    const found = byName(filtered(tools, search))
    if (search.sort === 'recent') {
      return recentFirst(
        found,
        (runs ?? []).map((run) => run.tool),
      )
    }
    return search.q && search.sort === undefined ? bestFirst(found, tools, search.q) : found
  }, [tools, search, runs])

  useKeys({ j: () => moveFocus(marked('tool'), 1), k: () => moveFocus(marked('tool'), -1) })

  const change = (part: Partial<LibrarySearch>) =>
    void navigate({ search: (old) => ({ ...old, ...part }), replace: true, resetScroll: false })
  const clear = () =>
    void navigate({ search: ({ view, sort }) => ({ view, sort }), resetScroll: false })
  const shelf = useShelf()
  const isNarrowed = search.q !== undefined || FACETS.some((facet) => search[facet] !== undefined)
  const total = list.data?.pages[0]?.total
  const view = search.view ?? 'grid'
  // What comes later may belong above what is here, and nothing is to move under somebody's hand.
  const isReading =
    list.isPending ||
    (hasNextPage && !isFetchNextPageError) ||
    (search.sort === 'recent' && isReadingRuns)

  return (
    <div className="grid gap-5">
      <div className="flex flex-wrap items-center gap-x-3">
        <h1 className="text-xl font-semibold">{t('title')}</h1>
        <p aria-live="polite" className="text-muted">
          {!list.isPending &&
            (hasNextPage
              ? t('reading', { count: tools.length, total: total ?? '…' })
              : t('found', { count: found.length, total: tools.length }))}
        </p>
        <div className="ml-auto">
          <KeySheet keys={KEYS} />
        </div>
      </div>
      <Toolbar search={search} onChange={change} />
      {list.error && <Fault error={list.error} onRetry={() => void list.refetch()} />}
      {isReading ? (
        <LibraryLoading view={view} />
      ) : tools.length === 0 && !list.error ? (
        <NoTools />
      ) : (
        <div className="grid min-w-0 gap-5 lg:grid-cols-[14rem_minmax(0,1fr)]">
          <Filters tools={tools} search={search} onChange={change} />
          <div className="grid min-w-0 content-start gap-4">
            <h2 className="sr-only">{t('tools')}</h2>
            <ActiveFilters search={search} onChange={change} onClear={clear} />
            {!isNarrowed && <Shelves tools={tools} shelf={shelf} />}
            {found.length > 0 ? (
              <LibraryResults
                key={JSON.stringify(search)}
                tools={found}
                health={health}
                view={view}
                shelf={shelf}
              />
            ) : (
              !hasNextPage && <NoMatch search={search} onClear={clear} />
            )}
          </div>
        </div>
      )}
    </div>
  )
}

function Toolbar({
  search,
  onChange,
}: {
  search: LibrarySearch
  onChange: (change: Partial<LibrarySearch>) => void
}) {
  const { t } = useTranslation('library')
  const view = search.view ?? 'grid'
  const sorts = search.q ? ['match', 'name', 'recent'] : ['name', 'recent']
  const views = [
    ['grid', LayoutGrid],
    ['table', Rows3],
  ] as const
  return (
    <div className="flex min-w-0 flex-wrap gap-2 sm:flex-nowrap">
      <SearchBox label={t('search')} q={search.q} onSearch={(q) => onChange({ q })} />
      <Select
        aria-label={t('sort.label')}
        className="w-auto"
        value={search.sort ?? sorts[0]}
        onChange={({ target }) =>
          onChange({ sort: (['name', 'recent'] as const).find((sort) => sort === target.value) })
        }
      >
        {sorts.map((sort) => (
          <option key={sort} value={sort}>
            {t(`sort.${sort}`)}
          </option>
        ))}
      </Select>
      <fieldset className="flex gap-0.5 rounded-md border border-line">
        <legend className="sr-only">{t('view.label')}</legend>
        {views.map(([name, Icon]) => (
          <Button
            key={name}
            tone="quiet"
            size="icon"
            className="h-[34px] aria-pressed:bg-accent-soft aria-pressed:text-accent"
            aria-pressed={view === name}
            aria-label={t(`view.${name}`)}
            onClick={() => onChange({ view: name === 'grid' ? undefined : name })}
          >
            <Icon aria-hidden />
          </Button>
        ))}
      </fieldset>
    </div>
  )
}
