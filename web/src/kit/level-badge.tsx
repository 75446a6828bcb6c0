import { Eye, FilePen, type LucideIcon, PencilLine, TriangleAlert } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Badge, type Tone } from './badge'

const LEVELS: Record<string, { icon: LucideIcon; tone: Tone }> = {
  read: { icon: Eye, tone: 'plain' },
  draft: { icon: FilePen, tone: 'plain' },
  write: { icon: PencilLine, tone: 'warn' },
  destructive: { icon: TriangleAlert, tone: 'bad' },
}

/** What a tool may do to the world, in words. A tool that says nothing gets no badge. */
export function LevelBadge({ level }: { level: string | null | undefined }) {
  const { t } = useTranslation('library')
  const look = level != null && Object.hasOwn(LEVELS, level) ? LEVELS[level] : undefined
  if (!look) return null
  return (
    <Badge tone={look.tone}>
      <look.icon aria-hidden />
      {t(`level.${level}`)}
    </Badge>
  )
}
