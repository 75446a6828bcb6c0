import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type RefObject, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useMay } from '~/api/me'
import { ApprovalsList, QuickDecision } from '~/features/approvals/approvals-list'
import { Inbox, moveFocus, NoInbox, useItems } from '~/features/approvals/inbox'
import { type Approval, approvalsBy, type Decision } from '~/features/approvals/approval-queries'
import { KEYS } from '~/features/approvals/keys'
import { APPROVAL_STATES } from '~/features/approvals/search'
import { useKeys } from '~/kit/keys'
import { Empty } from '~/kit/states'

const route = getRouteApi('/inside/approvals')

export default function ApprovalsPage() {
  const { t } = useTranslation('approvals')
  if (useMay('approvals.tenant.read')) return <Approvals />
  return <NoInbox title={t('title')} why={t('not_yours')} />
}

function Approvals() {
  const { t } = useTranslation('approvals')
  const { status = 'pending' } = route.useSearch()
  const decides = useMay('approvals.tenant.decide')
  const list = useInfiniteQuery(approvalsBy(status))
  const approvals = useItems(list.data)
  const box = useRef<HTMLUListElement>(null)
  const [sheet, setSheet] = useState(false)
  const [deciding, setDeciding] = useState<{ approval: Approval; kind: Decision['kind'] }>()
  const keys = useListKeys(box, approvals, decides, setDeciding, () => setSheet(true))
  return (
    <>
      <Inbox
        of="approvals"
        title={t('title')}
        list={list}
        keys={{ keys: KEYS, open: sheet, onOpen: setSheet }}
        above={
          <>
            <StatusTabs />
            {!decides && <p className="text-muted">{t('read_only')}</p>}
          </>
        }
        empty={
          <Empty title={t(status === 'pending' ? 'empty.pending' : 'empty.other')}>
            {status === 'pending' && <p>{t('empty.explained')}</p>}
          </Empty>
        }
      >
        <ApprovalsList approvals={approvals} box={box} />
      </Inbox>
      {deciding && (
        <QuickDecision
          key={deciding.approval.id}
          {...deciding}
          onClose={() => {
            setDeciding(undefined)
            keys.stay()
          }}
        />
      )}
    </>
  )
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
          search={{ status: state === 'pending' ? undefined : state }}
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

/** The keys of the list. Which approval is meant is the one that has the focus. */
function useListKeys(
  box: RefObject<HTMLUListElement | null>,
  approvals: Approval[],
  decides: boolean,
  onDecide: (deciding: { approval: Approval; kind: Decision['kind'] }) => void,
  onSheet: () => void,
) {
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
    e: () => {
      const approval = focused()
      if (approval)
        void navigate({ to: '/approvals/$id', params: { id: approval.id }, hash: 'edit' })
    },
    '?': onSheet,
  })
  return { stay }
}
