import { Ban, CircleCheck, CircleDashed, CircleSlash, FilePen } from 'lucide-react'

import { UNAVAILABLE } from '~/api/unavailable'
import { useTranslation } from '~/i18n'
import { Badge, type Tone } from '~/kit/badge'
import type { ToolItem } from './types'

const STATUS = {
  draft: { tone: 'plain', Icon: CircleDashed },
  published: { tone: 'good', Icon: CircleCheck },
  deprecated: { tone: 'warn', Icon: CircleSlash },
  disabled: { tone: 'bad', Icon: Ban },
} as const satisfies Record<string, { tone: Tone; Icon: unknown }>

export function StatusBadge({ status }: { status: string }) {
  const { t } = useTranslation('admin')
  const known = status in STATUS ? (status as keyof typeof STATUS) : undefined
  if (!known) return <Badge>{status}</Badge>
  const { tone, Icon } = STATUS[known]
  return (
    <Badge tone={tone}>
      <Icon aria-hidden />
      {t(`status.${known}`)}
    </Badge>
  )
}

/** Something was saved that does not run yet. A tool that never ran is a draft anyway. */
export function DraftMark({ tool }: { tool: ToolItem }) {
  const { t } = useTranslation('admin')
  if (!tool.has_draft || tool.status === 'draft') return null
  return (
    <Badge tone="accent" title={t('list.has_draft_hint')}>
      <FilePen aria-hidden />
      {t('list.has_draft')}
    </Badge>
  )
}

/** Why nobody can run it, in words; a word that is not known here is shown as it came. */
export function useReason() {
  const { t } = useTranslation('admin')
  return (reason: string) => (UNAVAILABLE.has(reason) ? t(`reason.${reason}`) : reason)
}
