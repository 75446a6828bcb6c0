import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useRef, useState } from 'react'

import { useMay } from '~/api/me'
import { pendingApprovals } from '~/api/pending'
import type { Problem } from '~/api/problem'
import { toolAt } from '~/api/tool-at'
import { Unsent } from '~/features/result/unsent'
import { useTranslation } from '~/i18n'
import { refusalWords, useServerWords } from '~/i18n/server-words'
import { AskFacts } from '~/kit/ask-facts'
import { KeySheet } from '~/kit/key-sheet'
import { useKeys } from '~/kit/keys'
import { LevelBadge } from '~/kit/level-badge'
import { useNow } from '~/kit/now'
import { usePageName } from '~/kit/title'
import { ApprovalInput } from './approval-input'
import type { Approval } from './approval-queries'
import { DecideDialog } from './decide-dialog'
import { DecisionPanel } from './decision-panel'
import { DETAIL_KEYS } from './keys'
import { Outcome } from './outcome'
import { canStand } from './standing'
import { useDecision } from './use-decision'
import { useWants } from './words'

/** Everything about one approval, and the decision. */
export function ApprovalDetail({
  approval,
  editAtOnce,
}: {
  approval: Approval
  editAtOnce: boolean
}) {
  const { t } = useTranslation('approvals')
  const outcome = useRef<HTMLHeadingElement>(null)
  const decision = useDecision(approval, outcome, useMay('approvals.tenant.decide'))
  const { data: tool } = useQuery(toolAt(approval.tool, approval.version))
  usePageName(t('title.approval_of', { tool: tool?.name ?? approval.tool, ns: 'app' }))
  const [wanted, setWanted] = useState(editAtOnce)
  const refusal = useRefusal(approval, decision.forbidden)
  const isPending = approval.status === 'pending'
  const decides = isPending && refusal === undefined
  const editing = decides && (decision.editing || wanted)
  const approve = () => {
    // What cannot be undone is looked at twice.
    if (approval.level === 'destructive') decision.ask({ kind: 'approve' })
    else decision.send({ kind: 'approve', note: decision.note })
  }
  const edit = () => {
    setWanted(false)
    decision.edit()
  }
  useNeighbours(approval.id, {
    ...(decides && {
      a: () => (editing ? undefined : decision.ask({ kind: 'approve' })),
      d: () => decision.ask({ kind: 'deny' }),
      e: edit,
    }),
  })

  return (
    <div className="grid min-w-0 gap-5">
      <Head approval={approval} toolName={tool?.name ?? approval.tool}>
        <KeySheet keys={DETAIL_KEYS} />
      </Head>
      <div aria-live="polite" className="grid min-w-0 gap-4 empty:hidden">
        {decision.overtaken && (
          <p className="font-medium">
            {t(decision.overtaken === 'decision' ? 'overtaken' : 'overtaken_before')}
          </p>
        )}
        {!isPending && <Outcome approval={approval} heading={outcome} />}
        {!isPending && !decision.busy && (decision.isChanged || decision.note !== '') && (
          <Unsent
            input={decision.isChanged ? decision.input : undefined}
            note={decision.note || undefined}
          />
        )}
        {isPending && refusal && <p className="rounded-lg bg-warn-soft p-4 text-warn">{refusal}</p>}
      </div>
      <div className="grid min-w-0 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <ApprovalInput
          approval={approval}
          tool={tool}
          editing={editing}
          value={editing ? decision.input : approval.input}
          onChange={decision.change}
          faults={decision.faults}
          busy={decision.busy}
          onReview={(input) => decision.ask({ kind: 'approve', input })}
        />
        <div className="grid min-w-0 gap-4">
          {decides && (
            <DecisionPanel
              editing={editing}
              canEdit={tool !== undefined}
              busy={decision.busy}
              error={decision.asking ? undefined : decision.error}
              note={decision.note}
              onNote={decision.setNote}
              onApprove={approve}
              onApproveFor={
                canStand(approval)
                  ? () => decision.ask({ kind: 'approve', isStanding: true })
                  : undefined
              }
              onDeny={() => decision.ask({ kind: 'deny' })}
              onEdit={edit}
              onDiscard={() => {
                setWanted(false)
                decision.discard()
              }}
            />
          )}
          <AskFacts
            ask={approval}
            isOpen={isPending}
            idLabel={t('fact.id')}
            copyLabel={t('copy_id')}
          />
        </div>
      </div>
      {decides && decision.asking && (
        <DecideDialog
          approval={approval}
          tool={tool}
          {...decision.asking}
          note={decision.note}
          onNote={decision.setNote}
          busy={decision.busy}
          error={decision.error}
          onDecide={decision.send}
          onClose={() => decision.ask(undefined)}
        />
      )}
    </div>
  )
}

function Head({
  approval,
  toolName,
  children,
}: {
  approval: Approval
  toolName: string
  children: ReactNode
}) {
  const { t } = useTranslation('approvals')
  const wants = useWants()
  const { reason } = useServerWords()
  return (
    <header className="grid min-w-0 gap-2">
      <div className="flex items-center justify-between gap-2 text-xs text-muted">
        <Link to="/approvals" search={{}} className="underline underline-offset-2">
          {t('title')}
        </Link>
        {children}
      </div>
      <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="min-w-0 text-xl font-semibold break-words">{wants(approval, toolName)}</h1>
        {approval.level === 'destructive' && <LevelBadge level={approval.level} />}
      </div>
      <p className="text-muted">
        <span className="font-medium text-text">{t('why')}</span> {reason(approval)}
      </p>
    </header>
  )
}

/** Why this person cannot decide on this one now, if so. */
function useRefusal(approval: Approval, forbidden: Problem | undefined): string | undefined {
  const { t } = useTranslation('approvals')
  const decides = useMay('approvals.tenant.decide')
  const isOver = Date.parse(approval.expires_at) <= useNow(1_000)
  if (!decides) return t('read_only')
  if (forbidden) return t('forbidden', { reason: refusalWords(forbidden) })
  return isOver ? t('over') : undefined
}

/** The keys of the page; `j` and `k` lead to the next and the previous one that waits. */
function useNeighbours(id: string, keys: Record<string, () => void>) {
  const navigate = useNavigate()
  const { data } = useQuery(pendingApprovals)
  const go = (by: number) => {
    const ids = data?.items.map((approval) => approval.id) ?? []
    const place = ids.indexOf(id)
    const next = place < 0 ? ids[0] : ids[place + by]
    if (next) void navigate({ to: '/approvals/$id', params: { id: next } })
  }
  useKeys({ j: () => go(1), k: () => go(-1), ...keys })
}
