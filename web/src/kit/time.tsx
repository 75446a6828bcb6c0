import { locale, useLocale } from '~/i18n'

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

/** How long ago, or how soon; the exact time is the tooltip. */
export function Moment({ at }: { at: string }) {
  const locale = useLocale()
  const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  return (
    <time dateTime={at} title={exact.format(new Date(at))} className="whitespace-nowrap">
      {relative(at, locale)}
    </time>
  )
}

function relative(at: string, locale: string): string {
  const seconds = (new Date(at).getTime() - Date.now()) / 1000
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(
    Math.round(seconds / size),
    unit,
  )
}

export function duration(ms: number): string {
  const number = (value: number, unit: string) =>
    new Intl.NumberFormat(locale(), {
      style: 'unit',
      unit,
      maximumFractionDigits: 1,
    }).format(value)
  if (ms < 1000) return number(ms, 'millisecond')
  if (ms < 60_000) return number(ms / 1000, 'second')
  return number(ms / 60_000, 'minute')
}
