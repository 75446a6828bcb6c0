import { Ban, CircleCheck, CircleX, Hourglass, type LucideIcon, TimerOff } from 'lucide-react'

import { actorOf } from '~/api/actor'
import { useMe } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Badge, type Tone } from '~/kit/badge'
import { useNaming } from '~/kit/people'
import type { Approval } from './approval-queries'

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
