import { Ban, CircleCheck, CircleX, Hourglass, type LucideIcon, TimerOff } from 'lucide-react'
import { useTranslation } from 'react-i18next'

import { useLocale } from '~/i18n'
import { Badge, type Tone } from '~/kit/badge'
import { useNow } from '~/kit/now'

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

/** What a call will do, to complete "… wants to …". */
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

const MINUTE = 60
const HOUR = 60 * MINUTE

/** A span of time in its two largest units. */
export function clock(ms: number, language: string): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  const unit = (value: number, unit: string) =>
    new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'short' }).format(value)
  if (seconds >= HOUR) {
    const minutes = Math.floor((seconds % HOUR) / MINUTE)
    return `${unit(Math.floor(seconds / HOUR), 'hour')} ${unit(minutes, 'minute')}`
  }
  if (seconds >= MINUTE) {
    return `${unit(Math.floor(seconds / MINUTE), 'minute')} ${unit(seconds % MINUTE, 'second')}`
  }
  return unit(seconds, 'second')
}

/** How long there is left to decide. */
export function Expiry({ at }: { at: string }) {
  const { t } = useTranslation('approvals')
  const locale = useLocale()
  const left = Date.parse(at) - useNow(1_000)
  const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  return (
    <time
      dateTime={at}
      title={exact.format(new Date(at))}
      className={
        left < HOUR * 1000 ? 'font-medium whitespace-nowrap text-warn' : 'whitespace-nowrap'
      }
    >
      {left > 0 ? t('time_left', { time: clock(left, locale) }) : t('time_over')}
    </time>
  )
}
