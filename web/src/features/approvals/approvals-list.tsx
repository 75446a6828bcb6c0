import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { RefObject } from 'react'
import { useTranslation } from 'react-i18next'

import { actorOf, useMayReadRunOf } from '~/api/actor'
import { Problem } from '~/api/problem'
import { Expiry } from '~/kit/expiry'
import { useKept } from '~/kit/kept'
import { LevelBadge } from '~/kit/level-badge'
import { ActorName, useNaming } from '~/kit/people'
import { Moment } from '~/kit/time'
import { plain } from '~/kit/plain'
import { toast } from '~/kit/toast'
import { type Approval, approvalOf, type Decision, useDecide } from './approval-queries'
import { DecideDialog } from './decide-dialog'
import { SettledDialog } from './settled-dialog'
import { ApprovalStatus, useReason, verbOf } from './words'

/** The cards of the list. Which one is meant by a key is the one that has the focus. */
export function ApprovalsList({
  approvals,
  box,
}: {
  approvals: Approval[]
  box: RefObject<HTMLUListElement | null>
}) {
  const { t } = useTranslation('approvals')
  return (
    <ul ref={box} aria-label={t('list')} className="grid gap-2">
      {approvals.map((approval) => (
        <ApprovalCard key={approval.id} approval={approval} />
      ))}
    </ul>
  )
}

function ApprovalCard({ approval }: { approval: Approval }) {
  const { t } = useTranslation('approvals')
  const name = useNaming()
  const reason = useReason()
  const isPending = approval.status === 'pending'
  return (
    <li className="relative grid min-w-0 gap-2 rounded-lg border border-line p-4 focus-within:border-accent focus-within:bg-raised hover:bg-raised">
      <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 font-medium">
          <Link
            to="/approvals/$id"
            params={{ id: approval.id }}
            data-approval={approval.id}
            className="break-words after:absolute after:inset-0 after:rounded-lg"
          >
            {t(`wants.${verbOf(approval.level)}`, {
              who: name(actorOf(approval.requested_by)),
              tool: approval.tool,
            })}
          </Link>
        </h2>
        <LevelBadge level={approval.level} />
        {!isPending && <ApprovalStatus status={approval.status} />}
      </div>
      <p className="line-clamp-2 font-mono text-xs break-all text-muted">
        {plain(JSON.stringify(approval.input).slice(0, 400))}
      </p>
      <div className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        <span>
          {t('asked')} <Moment at={approval.requested_at} />
        </span>
        {isPending ? (
          <Expiry at={approval.expires_at} />
        ) : (
          approval.decided_by && (
            <span className="inline-flex gap-1">
              {t('decided_by')} <ActorName actor={actorOf(approval.decided_by)} />
            </span>
          )
        )}
        <span className="min-w-0">{reason(approval.reason)}</span>
      </div>
    </li>
  )
}

/** Decides on one approval of the list, in a dialog that shows what it is about. */
export function QuickDecision({
  approval,
  kind,
  onClose,
}: {
  approval: Approval
  kind: Decision['kind']
  onClose: () => void
}) {
  const { t } = useTranslation('approvals')
  const navigate = useNavigate()
  const mayReadRun = useMayReadRunOf(approval.requested_by)
  // The page of the approval keeps its note in the same place.
  const [note = '', setNote] = useKept<string>(`approval-note:${approval.id}`)
  const decide = useDecide(approval.id)
  // The list lets go of what others decide meanwhile; whoever is about to decide has to hear of it.
  const { data: current } = useQuery({ ...approvalOf(approval.id), initialData: approval })
  const isOvertaken = current.status !== 'pending' && !decide.isPending && !decide.isSuccess
  const send = (decision: Decision) =>
    decide.mutate(decision, {
      onSuccess: (answer) => {
        setNote(undefined)
        say(decision.kind === 'deny' ? 'denied' : answer.status)
        onClose()
      },
      onError: (error) => {
        // May not decide here: the page of the approval tells the whole story.
        if (error instanceof Problem && error.status === 403) {
          void navigate({ to: '/approvals/$id', params: { id: approval.id } })
        }
      },
    })
  /** The list only lets go of what is decided, so what came of it is said. */
  const say = (came: string) => {
    const { tool, run_id: id } = approval
    const known = t('decided.running', { tool })
    const open = () => void navigate({ to: '/runs/$id', params: { id } })
    toast(
      t(`decided.${came}`, { tool, defaultValue: known }),
      came === 'error' || came === 'timed_out' ? 'bad' : 'good',
      mayReadRun ? { label: t('decided.open'), run: open } : undefined,
    )
  }
  if (isOvertaken) return <SettledDialog approval={current} unsent={note} onClose={onClose} />
  return (
    <DecideDialog
      approval={approval}
      kind={kind}
      note={note}
      onNote={(note) => setNote(note || undefined)}
      busy={decide.isPending}
      error={decide.error}
      onDecide={send}
      onClose={onClose}
    />
  )
}
