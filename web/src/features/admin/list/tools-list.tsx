import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useCallback } from 'react'

import { useMay } from '~/api/me'
import { translated } from '~/api/translated'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Empty, Fault, Skeleton } from '~/kit/states'
import { toolsOf } from '../queries'
import type { ToolsAdminSearch } from '../search'
import { Filters } from './filters'
import { ToolDrawer } from './tool-drawer'
import { ToolsTable } from './tools-table'

const route = getRouteApi('/inside/admin/tools')

export function ToolsList() {
  const { t } = useTranslation('admin')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const mayCreate = useMay('tools.tenant.create')
  const change = useCallback(
    (change: Partial<ToolsAdminSearch>) =>
      navigate({ search: (before) => ({ ...before, ...change }), replace: true }),
    [navigate],
  )
  return (
    <div className="grid gap-5">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="grid gap-1">
          <h1 className="text-xl font-semibold">{t('list.title')}</h1>
          <p className="text-muted">{t('list.subtitle')}</p>
        </div>
        {mayCreate && <NewTool />}
      </div>
      <Filters search={search} onChange={change} />
      <Found search={search} mayCreate={mayCreate} />
      {search.open && <ToolDrawer slug={search.open} onClose={() => change({ open: undefined })} />}
    </div>
  )
}

function NewTool() {
  const { t } = useTranslation('admin')
  return (
    <Button asChild tone="primary">
      <Link to="/admin/tools/new" search={{}}>
        <Plus aria-hidden />
        {t('list.new')}
      </Link>
    </Button>
  )
}

function Found({ search, mayCreate }: { search: ToolsAdminSearch; mayCreate: boolean }) {
  const { t, language } = useTranslation('admin')
  const maySwitch = useMay('tools.tenant.update')
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    toolsOf(search),
  )
  if (error && !data) return <Fault error={error} onRetry={() => void refetch()} />
  if (!data) return <Waiting />
  const tools = data.pages.flatMap(({ items }) => items.map((tool) => translated(tool, language)))
  const total = data.pages[0]?.total ?? tools.length
  if (tools.length === 0) {
    const isFiltered = search.q || search.kind || search.status
    return (
      <Empty title={isFiltered ? t('list.none_found') : t('list.none')}>
        <div className="grid justify-items-center gap-3">
          <p>{isFiltered ? t('list.none_found_hint') : t('list.none_hint')}</p>
          {isFiltered ? (
            <Button asChild>
              <Link to="/admin/tools" search={{}}>
                {t('list.clear')}
              </Link>
            </Button>
          ) : (
            mayCreate && <NewTool />
          )}
        </div>
      </Empty>
    )
  }
  return (
    <div className="grid gap-3">
      <p className="text-xs text-muted" aria-live="polite">
        {t('list.count', { count: total })}
      </p>
      <ToolsTable tools={tools} canSwitch={maySwitch} />
      {hasNextPage && (
        <div className="justify-self-center">
          <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {t('list.more')}
          </Button>
        </div>
      )}
    </div>
  )
}

function Waiting() {
  const { t } = useTranslation()
  return (
    <div role="status" aria-label={t('loading')} className="grid gap-2">
      {['a', 'b', 'c', 'd', 'e'].map((row) => (
        <Skeleton key={row} className="h-14" />
      ))}
    </div>
  )
}
