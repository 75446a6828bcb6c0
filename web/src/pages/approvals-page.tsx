import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'

import { useMay } from '~/api/me'
import { type Approval, approvalsBy, type Decision } from '~/features/approvals/approval-queries'
import { ApprovalsFilters } from '~/features/approvals/approvals-filters'
import { ApprovalGroups, SettledApprovals } from '~/features/approvals/approvals-list'
import { BatchBar } from '~/features/approvals/batch-bar'
import { BatchDialog } from '~/features/approvals/batch-dialog'
import { canBatch, filtered, grouped } from '~/features/approvals/groups'
import { Inbox, NoInbox, useItems } from '~/features/approvals/inbox'
import { KEYS } from '~/features/approvals/keys'
import { QuickDecision } from '~/features/approvals/quick-decision'
import { APPROVAL_STATES, type ApprovalsSearch } from '~/features/approvals/search'
import { type Selection, useSelection } from '~/features/approvals/selection'
import { useTools } from '~/features/approvals/use-tools'
import { useTranslation } from '~/i18n'
import { useKeys } from '~/kit/keys'
import { moveFocus } from '~/kit/move-focus'
import { Empty } from '~/kit/states'

const route = getRouteApi('/inside/approvals')

export default function ApprovalsPage() {
  const { t } = useTranslation('approvals')
  if (useMay('approvals.tenant.read')) return <Approvals />
  return <NoInbox title={t('title')} why={t('not_yours')} />
}

function Approvals() {
  const { t } = useTranslation('approvals')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { status = 'pending', tool, by } = search
  const isPending = status === 'pending'
  const isFiltered = tool !== undefined || by !== undefined
  const decides = useMay('approvals.tenant.decide')
  const list = useInfiniteQuery(approvalsBy(status))
  useReadOn(list, list.data?.pages.length ?? 0, isFiltered)
  const all = useItems(list.data)
  const toolOf = useTools(all)
  const shown = useMemo(() => filtered(all, { tool, by }), [all, tool, by])
  const groups = useMemo(() => (isPending ? grouped(shown) : []), [shown, isPending])
  const inOrder = useMemo(
    () => (isPending ? groups.flatMap(({ approvals }) => approvals) : shown),
    [groups, shown, isPending],
  )
  const possible = useMemo(
    () => inOrder.filter((one) => decides && canBatch(one)).map(({ id }) => id),
    [inOrder, decides],
  )
  const selection = useSelection(possible)
  const box = useRef<HTMLUListElement>(null)
  const [deciding, setDeciding] = useState<Deciding>()
  const [batch, setBatch] = useState<Decision['kind']>()
  const keys = useListKeys({
    box,
    approvals: inOrder,
    decides,
    selection,
    onDecide: setDeciding,
  })
  const change = (part: Partial<ApprovalsSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...part }), replace: true, resetScroll: false })
  return (
    <>
      <Inbox
        of="approvals"
        title={t('title')}
        list={list}
        keys={KEYS}
        above={
          <>
            <StatusTabs />
            {(all.length > 0 || isFiltered) && (
              <ApprovalsFilters approvals={all} toolOf={toolOf} search={search} onChange={change} />
            )}
            {!decides && <p className="text-muted">{t('read_only')}</p>}
          </>
        }
        empty={
          <Empty title={t(isPending ? 'empty.pending' : 'empty.other')}>
            {isPending && <p>{t('empty.explained')}</p>}
          </Empty>
        }
      >
        {inOrder.length === 0 ? (
          <Empty title={t('empty.filtered')} />
        ) : isPending ? (
          <ApprovalGroups
            groups={groups}
            toolOf={toolOf}
            box={box}
            selection={decides ? selection : undefined}
          />
        ) : (
          <SettledApprovals approvals={shown} toolOf={toolOf} box={box} />
        )}
      </Inbox>
      {selection.ids.length > 0 && (
        <BatchBar count={selection.ids.length} onDecide={setBatch} onClear={selection.clear} />
      )}
      {batch && (
        <BatchDialog
          approvals={inOrder.filter(({ id }) => selection.has(id))}
          kind={batch}
          toolOf={toolOf}
          onClose={() => {
            setBatch(undefined)
            selection.clear()
          }}
        />
      )}
      {deciding && (
        <QuickDecision
          key={deciding.approval.id}
          {...deciding}
          tool={toolOf(deciding.approval)}
          onClose={() => {
            setDeciding(undefined)
            keys.stay()
          }}
        />
      )}
    </>
  )
}

interface Deciding {
  approval: Approval
  kind: Decision['kind']
}

/** The most pages that are read of their own accord; who wants more says so. */
const PAGES_READ = 20

/** The server does not filter approvals, so a filter needs all of them. */
function useReadOn(
  list: Pick<
    ReturnType<typeof useInfiniteQuery>,
    'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'fetchNextPage'
  >,
  pages: number,
  isWanted: boolean,
) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list
  const isOpen = pages < PAGES_READ
  const reads = isWanted && isOpen && hasNextPage && !isFetchingNextPage && !isFetchNextPageError
  useEffect(() => {
    if (reads) void fetchNextPage()
  }, [reads, fetchNextPage])
}

function StatusTabs() {
  const { t } = useTranslation('approvals')
  const { status = 'pending' } = route.useSearch()
  return (
    <nav aria-label={t('filter')} className="flex flex-wrap gap-1">
      {APPROVAL_STATES.map((state) => (
        <Link
          key={state}
          to="/approvals"
          search={(old) => ({ ...old, status: state === 'pending' ? undefined : state })}
          activeOptions={{ exact: true }}
          aria-current={state === status ? 'page' : undefined}
          className="rounded-md px-3 py-1.5 font-medium text-muted hover:bg-raised hover:text-text aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent"
        >
          {t(`status.${state}`)}
        </Link>
      ))}
    </nav>
  )
}

interface ListKeys {
  box: RefObject<HTMLUListElement | null>
  approvals: Approval[]
  decides: boolean
  selection: Selection
  onDecide: (deciding: Deciding) => void
}

/** The keys of the list. Which approval is meant is the one that has the focus. */
function useListKeys({ box, approvals, decides, selection, onDecide }: ListKeys) {
  const navigate = useNavigate()
  const last = useRef(0)
  const links = () => [...(box.current?.querySelectorAll<HTMLElement>('[data-approval]') ?? [])]
  const move = (by: number) => {
    last.current = moveFocus(links(), by)
  }
  // What was decided leaves the list, and the focus goes to what has come in its place. The dialog has its
  // own turn first: it gives the focus back to where it was, if that is still there.
  const stay = () =>
    setTimeout(() => {
      if (document.activeElement !== document.body) return
      const all = links()
      all[Math.min(last.current, all.length - 1)]?.focus()
    })
  const focused = (): Approval | undefined => {
    const place = links().findIndex((link) => link === document.activeElement)
    const id = links()[place]?.dataset.approval
    const found = approvals.find((approval) => approval.id === id)
    if (found) last.current = place
    return decides && found?.status === 'pending' ? found : undefined
  }
  const decide = (kind: Decision['kind']) => {
    const approval = focused()
    if (approval) onDecide({ approval, kind })
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    a: () => decide('approve'),
    d: () => decide('deny'),
    x: () => {
      const approval = focused()
      if (approval && canBatch(approval)) selection.set([approval.id], !selection.has(approval.id))
    },
    e: () => {
      const approval = focused()
      if (approval)
        void navigate({ to: '/approvals/$id', params: { id: approval.id }, hash: 'edit' })
    },
  })
  return { stay }
}
