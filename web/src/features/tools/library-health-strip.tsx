import { useLocale, useTranslation } from '~/i18n'
import { type Health, type Mark, STRIP } from './library-health'

// Height says the same as colour, for those who do not see the colours.
const look: Record<Mark, { className: string; height: number }> = {
  good: { className: 'fill-good', height: 9 },
  open: { className: 'fill-warn', height: 5 },
  bad: { className: 'fill-bad', height: 16 },
}

/** The last runs of a tool at a glance, newest at the right. */
export function HealthStrip({ health }: { health: Health | undefined }) {
  const { t } = useTranslation('library')
  const locale = useLocale()
  const marks = health?.marks ?? []
  const text = health
    ? t('health.runs', {
        count: marks.length,
        good: health.good,
        bad: health.bad,
        open: health.open,
      })
    : t('health.none')
  const label = (health: Health | undefined) => {
    if (!health) return t('health.no_runs')
    const ended = health.good + health.bad
    if (ended === 0) return t('health.none_ended')
    const percent = new Intl.NumberFormat(locale, { style: 'percent' })
    return t('health.share', { share: percent.format(health.good / ended) })
  }
  const first = STRIP - marks.length
  return (
    <span className="flex min-w-0 items-center gap-2 text-xs text-muted" title={text}>
      <svg
        role="img"
        aria-label={text}
        viewBox={`0 0 ${STRIP * 4} 16`}
        className="h-4 w-30 shrink-0"
      >
        {/* Places without a run are one dashed line; hundreds of tools would be thousands of marks. */}
        <path
          d={`M0 15H${first * 4}`}
          strokeWidth={2}
          strokeDasharray="3 1"
          className="stroke-line"
        />
        {marks.map((mark, place) => {
          const { className, height } = look[mark]
          return (
            <rect
              key={place}
              x={(first + place) * 4}
              y={16 - height}
              width={3}
              height={height}
              rx={1}
              className={className}
            />
          )
        })}
      </svg>
      <span aria-hidden className="truncate">
        {label(health)}
      </span>
    </span>
  )
}
