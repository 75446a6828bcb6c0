import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ArrowUp } from 'lucide-react'
import { useMemo, useRef } from 'react'

import { useMay } from '~/api/me'
import { useLiveTail } from '~/features/runs/live-tail'
import { runsBy } from '~/features/runs/queries'
import { isFiltered, RunsFilters } from '~/features/runs/runs-filters'
import { RunsList } from '~/features/runs/runs-list'
import type { RunsSearch } from '~/features/runs/search'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { KeySheet } from '~/kit/key-sheet'
import { useKeys } from '~/kit/keys'
import { marked, moveFocus } from '~/kit/move-focus'
import { Empty, Fault, Loading } from '~/kit/states'

const KEYS = [
  ['j', 'next'],
  ['k', 'previous'],
  ['Enter', 'open'],
] as const

const route = getRouteApi('/inside/runs')

export default function RunsPage() {
  const { t } = useTranslation('runs')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const seesAll = useMay('runs.tenant.read')
  const { live, ...filters } = search
  const list = useInfiniteQuery(runsBy(filters))
  const read = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data])
  const box = useRef<HTMLElement>(null)
  const tail = useLiveTail(read, search, box)

  useKeys({ j: () => moveFocus(marked('run'), 1), k: () => moveFocus(marked('run'), -1) })

  const change = (part: Partial<RunsSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...part }), replace: true, resetScroll: false })
  const clear = () => void navigate({ search: { live }, resetScroll: false })
  const show = () => {
    if (tail.gap) void queries.resetQueries({ queryKey: runsBy(filters).queryKey })
    tail.show()
    scrollTo({ top: 0 })
  }

  return (
    <div className="grid gap-5">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div>
          <h1 className="text-xl font-semibold">{t('title')}</h1>
          {!seesAll && <p className="text-muted">{t('mine_only')}</p>}
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <KeySheet keys={KEYS} />
          <LiveSwitch
            on={live === true}
            onSwitch={(on) => change({ live: on ? true : undefined })}
          />
        </div>
      </div>
      <RunsFilters search={search} onChange={change} onClear={clear} />
      <p aria-live="polite" className="sr-only">
        {live && tail.fresh.size > 0 && t('came', { count: tail.fresh.size })}
      </p>
      {tail.held > 0 && (
        <div className="sticky top-16 z-20 flex justify-center">
          <Button tone="primary" size="small" className="rounded-full shadow-lg" onClick={show}>
            <ArrowUp aria-hidden />
            <span aria-live="polite">
              {t(tail.gap ? 'held_many' : 'held', { count: tail.held })}
            </span>
          </Button>
        </div>
      )}
      {list.error && <Fault error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? (
        <Loading />
      ) : tail.rows.length > 0 ? (
        <RunsList runs={tail.rows} fresh={tail.fresh} box={box} />
      ) : (
        !list.error && <NoRuns filtered={isFiltered(search)} onClear={clear} />
      )}
      {list.hasNextPage && (
        <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t(list.isFetchingNextPage ? 'loading_more' : 'load_more')}
        </Button>
      )}
    </div>
  )
}

function LiveSwitch({ on, onSwitch }: { on: boolean; onSwitch: (on: boolean) => void }) {
  const { t } = useTranslation('runs')
  return (
    <label className="flex min-h-9 cursor-pointer items-center gap-2 font-medium">
      <input
        type="checkbox"
        role="switch"
        className="size-4 accent-accent"
        checked={on}
        onChange={(event) => onSwitch(event.target.checked)}
      />
      {t('live')}
      {on && <span aria-hidden className="size-2 animate-pulse rounded-full bg-good" />}
    </label>
  )
}

function NoRuns({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  const { t } = useTranslation('runs')
  return (
    <Empty title={t(filtered ? 'no_match' : 'empty')}>
      {filtered ? (
        <Button tone="primary" onClick={onClear}>
          {t('clear_filters')}
        </Button>
      ) : (
        <Button asChild tone="primary">
          <Link to="/tools" search={{}}>
            {t('empty_action')}
          </Link>
        </Button>
      )}
    </Empty>
  )
}
