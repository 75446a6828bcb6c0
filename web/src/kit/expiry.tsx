import { useLocale, useTranslation } from '~/i18n'
import { useNow } from './now'

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
