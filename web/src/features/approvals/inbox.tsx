import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useMemo } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { KeySheet } from '~/kit/key-sheet'
import type { Key } from '~/kit/page-keys'
import { Empty, Fault, Loading } from '~/kit/states'
import { InboxTabs } from './inbox-tabs'

interface Page<Item> {
  items: Item[]
  total?: number | null
}

interface Props {
  of: ComponentProps<typeof InboxTabs>['of']
  title: string
  list: UseInfiniteQueryResult<InfiniteData<Page<unknown>>>
  keys: readonly Key[]
  /** What stands between the tabs and the list. */
  above?: ReactNode
  /** What is shown where there is nothing to list. */
  empty: ReactNode
  /** The list of what has come so far. */
  children: ReactNode
}

/** The page of what waits for people: how much there is, the list, and the rest of it on demand. */
export function Inbox({ of, title, list, keys, above, empty, children }: Props) {
  const { t } = useTranslation('approvals')
  const total = list.data?.pages[0]?.total
  const isEmpty = !list.data?.pages.some((page) => page.items.length > 0)
  return (
    <div className="grid gap-5">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div className="flex flex-wrap items-baseline gap-x-3">
          <h1 className="text-xl font-semibold">{title}</h1>
          <p aria-live="polite" className="text-muted">
            {typeof total === 'number' && t('count', { count: total })}
          </p>
        </div>
        {keys.length > 0 && <KeySheet keys={keys} />}
      </div>
      <InboxTabs of={of} />
      {above}
      {list.error && <Fault error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? <Loading /> : isEmpty ? !list.error && empty : children}
      {list.hasNextPage && (
        <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('load_more')}
        </Button>
      )}
    </div>
  )
}

/** The page of whom nothing waits for, ever. */
export function NoInbox({ title, why }: { title: string; why: string }) {
  return (
    <div className="grid gap-5">
      <h1 className="text-xl font-semibold">{title}</h1>
      <Empty title={why} />
    </div>
  )
}

/** Everything that was read, once each: what moves while pages are read may come twice. */
export function useItems<Item extends { id: string }>(
  data: InfiniteData<Page<Item>> | undefined,
): Item[] {
  return useMemo(() => {
    const read = data?.pages.flatMap((page) => page.items) ?? []
    return [...new Map(read.map((item) => [item.id, item])).values()]
  }, [data])
}
