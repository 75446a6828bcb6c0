import { locale } from '~/i18n'

/** The units in which a person says a time, and the milliseconds of each. */
export const TIME_UNITS = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
} as const

export type TimeUnit = keyof typeof TIME_UNITS

const UNITS = Object.keys(TIME_UNITS) as TimeUnit[]

/** A time as somebody would type it. */
export interface TypedTime {
  text: string
  unit: TimeUnit
}

/** A time in the largest unit that it is a whole number of. What is no whole second has digits behind the point. */
export function typedTime(ms: number | null): TypedTime {
  if (ms === null) return { text: '', unit: 'second' }
  const unit = UNITS.findLast((one) => ms !== 0 && ms % TIME_UNITS[one] === 0) ?? 'second'
  const number = new Intl.NumberFormat(locale(), { useGrouping: false, maximumFractionDigits: 3 })
  return { text: number.format(ms / TIME_UNITS[unit]), unit }
}

/** The milliseconds that somebody typed; nothing at all is `null`. Without an answer it is no time. */
export function readTime({ text, unit }: TypedTime): number | null | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return null
  if (!/^\d{1,9}([.,]\d{1,3})?$/.test(trimmed)) return undefined
  return Math.round(Number(trimmed.replace(',', '.')) * TIME_UNITS[unit])
}

/** A time in words, exactly: “90 seconds”, “1 day”. */
export function timeWords(ms: number): string {
  const { unit } = typedTime(ms)
  return new Intl.NumberFormat(locale(), {
    style: 'unit',
    unit,
    unitDisplay: 'long',
    maximumFractionDigits: 3,
  }).format(ms / TIME_UNITS[unit])
}
