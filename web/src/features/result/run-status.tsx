import {
  Ban,
  CircleCheck,
  CircleX,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  ShieldQuestion,
  TimerOff,
} from 'lucide-react'
import { useTranslation } from 'react-i18next'

import { Badge, type Tone } from '~/kit/badge'

const LOOKS: Record<string, [Tone, LucideIcon]> = {
  running: ['accent', LoaderCircle],
  pending: ['accent', Hourglass],
  needs_approval: ['warn', ShieldQuestion],
  success: ['good', CircleCheck],
  error: ['bad', CircleX],
  timed_out: ['bad', TimerOff],
  cancelled: ['plain', Ban],
}

/** The state of a run, as an icon and in words. */
export function RunStatus({ status }: { status: string }) {
  const { t } = useTranslation('result')
  const [tone, Icon] = LOOKS[status] ?? ['plain', Hourglass]
  return (
    <Badge tone={tone}>
      <Icon aria-hidden />
      {status in LOOKS ? t(`status.${status}`) : status}
    </Badge>
  )
}
