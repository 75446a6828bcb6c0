import { Ban, CircleCheck, CircleX, Hourglass, type LucideIcon, TimerOff } from 'lucide-react'

import { actorOf } from '~/api/actor'
import { useMe } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Badge, type Tone } from '~/kit/badge'
import { useNaming } from '~/kit/people'
import type { Approval } from './approval-queries'

// The server says why in a sentence of its own; these are the ones it has.
const REASONS: Record<string, string> = {
  'the tool writes': 'level_write',
  'the tool is destructive, and no setting relaxes that': 'destructive',
  'the tenant wants every write approved': 'approve_all_writes',
  "the tool's policy asks for every call of an agent": 'policy_always_ask',
}

/** Why a call has to be approved, in plain words; a reason that is not known here stays as it came. */
export function useReason(): (reason: string) => string {
  const { t } = useTranslation('approvals')
  return (reason) => {
    const known = Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined
    return known ? t(`reason.${known}`) : reason
  }
}

/** Who wants to run what, and what that may do, in one sentence. */
export function useWants(): (
  approval: Pick<Approval, 'level' | 'requested_by'>,
  tool: string,
) => string {
  const { t } = useTranslation('approvals')
  const name = useNaming()
  const me = useMe().principal.user_id
  return ({ level, requested_by }, tool) => {
    const actor = actorOf(requested_by)
    const isMe = actor.id !== undefined && actor.id === me
    const effect = t(`effect.${verbOf(level)}`)
    const wants = t(isMe ? 'wants_you' : 'wants', { who: name(actor), tool })
    return effect ? `${wants} (${effect})` : wants
  }
}

/** The word for what a call may do. */
export function verbOf(level: string | null | undefined): string {
  return level === 'read' || level === 'draft' || level === 'write' || level === 'destructive'
    ? level
    : 'unknown'
}

const LOOKS: Record<string, [Tone, LucideIcon]> = {
  pending: ['warn', Hourglass],
  approved: ['good', CircleCheck],
  denied: ['bad', CircleX],
  expired: ['plain', TimerOff],
  cancelled: ['plain', Ban],
}

export function ApprovalStatus({ status }: { status: string }) {
  const { t } = useTranslation('approvals')
  const [tone, Icon] = LOOKS[status] ?? ['plain', Hourglass]
  return (
    <Badge tone={tone}>
      <Icon aria-hidden />
      {t(`status.${status}`, { defaultValue: status })}
    </Badge>
  )
}
