import { Link } from '@tanstack/react-router'
import { type ReactNode, type RefObject, useId } from 'react'

import { actorOf } from '~/api/actor'
import { InputDigest } from '~/features/form/read/input-digest'
import { useTranslation } from '~/i18n'
import { useServerWords } from '~/i18n/server-words'
import { Badge } from '~/kit/badge'
import { Expiry } from '~/kit/expiry'
import { LevelBadge } from '~/kit/level-badge'
import { ActorName } from '~/kit/people'
import { Moment } from '~/kit/time'
import type { Approval } from './approval-queries'
import { canBatch, type Group } from './groups'
import type { Selection } from './selection'
import type { AskingTool } from './use-tools'
import { ApprovalStatus, useWants } from './words'

interface Props {
  toolOf: (approval: Approval) => AskingTool | undefined
  /** Which one is meant by a key is the one that has the focus. */
  box: RefObject<HTMLUListElement | null>
}

/** What waits, put together by what is asked; each row says in which values it differs. */
export function ApprovalGroups({
  groups,
  toolOf,
  box,
  selection,
}: Props & {
  groups: Group[]
  /** Missing for people who may only look. */
  selection: Selection | undefined
}) {
  const { t } = useTranslation('approvals')
  return (
    <ul ref={box} aria-label={t('list')} className="grid gap-4">
      {groups.map((group) => (
        <ApprovalGroup key={group.key} group={group} toolOf={toolOf} selection={selection} />
      ))}
    </ul>
  )
}

function ApprovalGroup({
  group: { approvals, varying },
  toolOf,
  selection,
}: {
  group: Group
  toolOf: Props['toolOf']
  selection: Selection | undefined
}) {
  const { t } = useTranslation('approvals')
  const wants = useWants()
  const { reason } = useServerWords()
  const id = useId()
  const [first] = approvals
  if (!first) return null
  const tool = toolOf(first)
  const sentence = wants(first, tool?.name ?? first.tool)
  const ids = approvals.filter(canBatch).map((approval) => approval.id)
  const chosen = selection ? ids.filter((id) => selection.has(id)).length : 0
  return (
    <li className="min-w-0 overflow-hidden rounded-lg border border-line">
      <div className="flex min-w-0 items-start gap-3 border-b border-line bg-raised p-3 sm:px-4">
        {selection && ids.length > 1 && (
          <Check
            label={t('batch.select_all', { sentence })}
            checked={chosen === ids.length}
            isPartly={chosen > 0 && chosen < ids.length}
            onChange={(on) => selection.set(ids, on)}
          />
        )}
        <div className="grid min-w-0 flex-1 gap-0.5">
          <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
            <h2 id={id} className="min-w-0 font-medium break-words">
              {sentence}
            </h2>
            {first.level === 'destructive' && <LevelBadge level={first.level} />}
            {approvals.length > 1 && <Badge>{t('requests', { count: approvals.length })}</Badge>}
          </div>
          <p className="text-xs text-muted">{reason(first)}</p>
        </div>
      </div>
      <ul aria-labelledby={id} className="divide-y divide-line">
        {approvals.map((approval) => (
          <li
            key={approval.id}
            className="relative flex min-w-0 items-start gap-3 p-3 focus-within:bg-raised hover:bg-raised sm:px-4"
          >
            {selection && canBatch(approval) && (
              <Check
                label={t('batch.select')}
                describedBy={`${id}-${approval.id}`}
                checked={selection.has(approval.id)}
                onChange={(on) => selection.set([approval.id], on)}
              />
            )}
            <div className="grid min-w-0 flex-1 gap-1">
              <RowLink approval={approval} id={`${id}-${approval.id}`}>
                <span className="sr-only">{sentence}: </span>
                <InputDigest tool={tool} input={approval.input} varying={varying} />
              </RowLink>
              <Times approval={approval} />
            </div>
          </li>
        ))}
      </ul>
    </li>
  )
}

/** What was settled, the newest first: here the order counts, and how each one ended. */
export function SettledApprovals({ approvals, toolOf, box }: Props & { approvals: Approval[] }) {
  const { t } = useTranslation('approvals')
  const wants = useWants()
  return (
    <ul ref={box} aria-label={t('list')} className="grid gap-2">
      {approvals.map((approval) => {
        const tool = toolOf(approval)
        return (
          <li
            key={approval.id}
            className="relative grid min-w-0 gap-1.5 rounded-lg border border-line p-4 focus-within:border-accent focus-within:bg-raised hover:bg-raised"
          >
            <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
              <h2 className="min-w-0 font-medium">
                <RowLink approval={approval}>
                  {wants(approval, tool?.name ?? approval.tool)}
                </RowLink>
              </h2>
              <ApprovalStatus status={approval.status} />
            </div>
            <p className="min-w-0">
              <InputDigest tool={tool} input={approval.input} />
            </p>
            <Times approval={approval} />
          </li>
        )
      })}
    </ul>
  )
}

function RowLink({
  approval,
  id,
  children,
}: {
  approval: Approval
  id?: string
  children: ReactNode
}) {
  return (
    <Link
      id={id}
      to="/approvals/$id"
      params={{ id: approval.id }}
      data-approval={approval.id}
      className="min-w-0 break-words after:absolute after:inset-0"
    >
      {children}
    </Link>
  )
}

function Times({ approval }: { approval: Approval }) {
  const { t } = useTranslation('approvals')
  const { status, requested_at, expires_at, decided_by } = approval
  return (
    <div className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      <span>
        {t('asked')} <Moment at={requested_at} />
      </span>
      {status === 'pending' && <Expiry at={expires_at} />}
      {status !== 'pending' && decided_by && (
        <span className="inline-flex gap-1">
          {t('decided_by')} <ActorName actor={actorOf(decided_by)} />
        </span>
      )}
    </div>
  )
}

interface CheckProps {
  label: string
  describedBy?: string
  checked: boolean
  isPartly?: boolean
  onChange: (on: boolean) => void
}

/** A box to tick, above the link that covers its row. */
function Check({ label, describedBy, checked, isPartly = false, onChange }: CheckProps) {
  return (
    // The finger needs more room than the box has.
    <label className="relative z-10 -m-2 grid size-9 shrink-0 cursor-pointer place-items-center">
      <input
        ref={(box) => {
          if (box) box.indeterminate = isPartly
        }}
        type="checkbox"
        className="size-4 accent-accent"
        aria-label={label}
        aria-describedby={describedBy}
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
      />
    </label>
  )
}
