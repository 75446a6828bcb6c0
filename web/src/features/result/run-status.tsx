import {
  Ban,
  CircleCheck,
  CircleX,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  ShieldQuestion,
  ShieldX,
  TimerOff,
} from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Badge, type Tone } from '~/kit/badge'

const LOOKS: Record<string, [Tone, LucideIcon]> = {
  running: ['accent', LoaderCircle],
  pending: ['accent', Hourglass],
  needs_approval: ['warn', ShieldQuestion],
  success: ['good', CircleCheck],
  error: ['bad', CircleX],
  timed_out: ['bad', TimerOff],
  cancelled: ['plain', Ban],
  denied: ['bad', ShieldX],
  expired: ['plain', TimerOff],
}

/** What the server calls cancelled, told apart by why: somebody said no, or nobody said anything. */
const WHYS: Record<string, string> = { DENIED: 'denied', EXPIRED: 'expired' }

/** The word for how a run stands. */
export function statusOf({ status, error_code }: RunState): string {
  return (status === 'cancelled' && error_code && WHYS[error_code]) || status
}

interface RunState {
  status: string
  error_code?: string | null
}

/** The state of a run, as an icon and in words. */
export function RunStatus({ run }: { run: RunState }) {
  const { t } = useTranslation('result')
  const status = statusOf(run)
  const [tone, Icon] = LOOKS[status] ?? ['plain', Hourglass]
  return (
    <Badge tone={tone}>
      <Icon aria-hidden />
      {status in LOOKS ? t(`status.${status}`) : status}
    </Badge>
  )
}
