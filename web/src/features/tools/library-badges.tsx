import { CircleCheck, CircleDashed, CircleOff, CircleSlash, type LucideIcon } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Badge, type Tone } from '~/kit/badge'
import type { ToolItem } from './library-queries'

const STATUSES: Record<string, { icon: LucideIcon; tone: Tone }> = {
  published: { icon: CircleCheck, tone: 'good' },
  draft: { icon: CircleDashed, tone: 'plain' },
  deprecated: { icon: CircleSlash, tone: 'warn' },
  disabled: { icon: CircleOff, tone: 'bad' },
}

export function ToolStatusBadge({ status }: { status: string }) {
  const { t } = useTranslation('library')
  const look = (Object.hasOwn(STATUSES, status) && STATUSES[status]) || {
    icon: CircleDashed,
    tone: 'plain' as const,
  }
  return (
    <Badge tone={look.tone}>
      <look.icon aria-hidden />
      {t(`status.${status}`, { defaultValue: status })}
    </Badge>
  )
}

/** Why a tool cannot be called now. Nothing where it can, or where the status has said so already. */
export function UnavailableBadge({ tool }: { tool: ToolItem }) {
  const { t } = useTranslation('library')
  const reason = tool.unavailable_reason
  if (tool.available || reason === tool.status) return null
  return (
    <Badge tone="bad" className="whitespace-normal">
      <CircleOff aria-hidden className="shrink-0" />
      {reason ? t(`unavailable.${reason}`, { defaultValue: reason }) : t('unavailable.unknown')}
    </Badge>
  )
}
