/** The units that `Intl` knows by name. Others are written as they are. */
const UNITS: Record<string, string> = {
  years: 'year',
  months: 'month',
  weeks: 'week',
  days: 'day',
  hours: 'hour',
  minutes: 'minute',
  seconds: 'second',
}

/** The name under which `Intl` writes a unit behind its number. */
export function intlUnit(unit: string): string | undefined {
  return Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined
}

/** A unit in the words of a language, as it stands behind a field. */
export function unitWord(unit: string, locale: string): string {
  const known = intlUnit(unit)
  if (!known) return unit
  const format = new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: known,
    unitDisplay: 'long',
  })
  return format.formatToParts(2).find(({ type }) => type === 'unit')?.value ?? unit
}
