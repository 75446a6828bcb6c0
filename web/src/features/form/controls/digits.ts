import { whole } from '~/api/exact'
import { shown } from './props'

/** Digits, perhaps in groups of three with the same sign between them; then a fraction; then a power of ten. */
const DIGITS = /^(?:\d{1,3}(?<mark>[.,' \u00a0\u2009\u202f’])\d{3}(?:\k<mark>\d{3})*|\d*)/
const REST = /^(?:(?<decimal>[.,])(?<fraction>\d*))?(?<power>[eE][+-]?\d+)?$/

/** Whether people write decimals after a comma in a language. */
export function usesComma(language: string): boolean {
  const parts = new Intl.NumberFormat(language).formatToParts(1.5)
  return parts.some(({ type, value }) => type === 'decimal' && value === ',')
}

/**
 * The number that a text is, written as people write it in the language of the page: `10.000,50` in German, `10,000.50`
 * in English. A text that is none stays one, for the check to complain of. So does what may be a thousand or a fraction:
 * `1.234` in German, `1,234` in English.
 */
export function readNumber(typed: string, comma: boolean): unknown {
  const text = typed.trim()
  if (text === '') return undefined
  const plain = inDigits(text.replace('\u2212', '-'), comma ? ',' : '.')
  if (plain === undefined) return text
  if (/^-?\d+$/.test(plain)) return whole(plain)
  const number = Number(plain)
  return Number.isFinite(number) ? number : text
}

/** The same number as programs write it, if the text is one beyond doubt. */
function inDigits(text: string, point: string): string | undefined {
  const sign = /^[+-]?/.exec(text)?.[0] ?? ''
  const number = text.slice(sign.length)
  const head = DIGITS.exec(number)
  const mark = head?.groups?.mark
  const isGrouped = mark !== undefined && mark !== point && !number.startsWith('0')
  const digits = isGrouped ? (head?.[0] ?? '') : (/^\d*/.exec(number)?.[0] ?? '')
  const rest = REST.exec(number.slice(digits.length))?.groups
  if (!rest) return undefined
  const { decimal, fraction = '', power = '' } = rest
  const grouped = isGrouped ? digits.split(mark) : [digits]
  const isMark = mark === '.' || mark === ','
  // One group of three alone may just as well be a fraction.
  if (isGrouped && isMark && grouped.length === 2 && decimal === undefined) return undefined
  // After a point some write decimals also where a comma is usual; a comma elsewhere sets thousands apart.
  if (decimal !== undefined && decimal !== point && (decimal === ',' || isGrouped)) return undefined
  if (digits === '' && fraction === '') return undefined
  const minus = sign === '-' ? '-' : ''
  const after = fraction === '' ? '' : `.${fraction}`
  return `${minus}${grouped.join('') || '0'}${after}${power}`
}

export function writtenNumber(value: unknown, comma: boolean): string {
  return comma && typeof value === 'number' ? String(value).replace('.', ',') : shown(value)
}
