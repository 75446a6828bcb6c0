import { unitWord } from '~/i18n/units'

import { usesComma, writtenNumber } from '../controls/digits'

/** All digits of a number: nobody judges by what was rounded. Thousands are set apart where something is counted. */
export function counted(
  value: number | bigint,
  unit: string | undefined,
  currency: string | undefined,
  locale: string,
): string {
  const word =
    unit === 'currency' ? currency : unit === 'percent' ? '%' : unit && unitWord(unit, locale)
  if (!word) return writtenNumber(value, usesComma(locale))
  const digits = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 }).format(value)
  return `${digits} ${word}`
}
