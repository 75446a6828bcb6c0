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

/** Units of shipped tools that `Intl` does not know. The words of other tools stay as their authors wrote them. */
const GERMAN: Record<string, string> = {
  characters: 'Zeichen',
  people: 'Personen',
  'person-days': 'Personentage',
  points: 'Punkte',
  runs: 'Läufe',
  systems: 'Systeme',
  times: 'Mal',
}

/** The name under which `Intl` writes a unit behind its number. */
export function intlUnit(unit: string): string | undefined {
  return Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined
}

/** A unit in the words of a language, as it stands behind a field. */
export function unitWord(unit: string, locale: string): string {
  const known = intlUnit(unit)
  if (!known) return isGerman(locale) && Object.hasOwn(GERMAN, unit) ? (GERMAN[unit] ?? unit) : unit
  const format = new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: known,
    unitDisplay: 'long',
  })
  return format.formatToParts(2).find(({ type }) => type === 'unit')?.value ?? unit
}

function isGerman(locale: string): boolean {
  return locale === 'de' || locale.startsWith('de-')
}
