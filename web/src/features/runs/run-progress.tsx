import { useLocale, useTranslation } from '~/i18n'
import type { RunEvent } from './queries'

/** How far an open run says that it is. */
export function RunProgress({ events }: { events: RunEvent[] }) {
  const { t } = useTranslation('runs')
  const number = new Intl.NumberFormat(useLocale())
  const last = events.findLast((event) => event.type === 'tool.progress')
  const { progress, total, message } = last?.payload ?? {}
  if (typeof progress !== 'number') return null
  const isBounded = typeof total === 'number' && total > 0
  const far = isBounded
    ? t('progress_of', { progress: number.format(progress), total: number.format(total) })
    : number.format(progress)
  return (
    <div className="grid min-w-0 gap-1">
      <progress
        aria-label={t('progress')}
        className="h-2 w-full accent-accent"
        max={isBounded ? total : undefined}
        value={isBounded ? Math.min(Math.max(progress, 0), total) : undefined}
      />
      <p className="text-xs break-words text-muted">
        {typeof message === 'string' && message !== '' ? `${far}: ${message}` : far}
      </p>
    </div>
  )
}
