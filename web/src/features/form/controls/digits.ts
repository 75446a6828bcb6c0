import { whole } from '~/api/exact'
import { shown } from './props'

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const GROUPED = /^[+-]?\d{1,3}(?:\.\d{3})+$/

/** Whether people write decimals after a comma in a language. */
export function usesComma(language: string): boolean {
  const parts = new Intl.NumberFormat(language).formatToParts(1.5)
  return parts.some(({ type, value }) => type === 'decimal' && value === ',')
}

/**
 * The number that a text is; a text that is none stays one, for the check to complain of. So does `1.234`
 * where decimals come after a comma: it may be a thousand.
 */
export function readNumber(typed: string, comma: boolean): unknown {
  const text = typed.trim()
  if (text === '') return undefined
  if (comma && GROUPED.test(text)) return text
  const plain = comma && !text.includes('.') ? text.replace(',', '.') : text
  if (!NUMBER.test(plain)) return text
  if (/^[+-]?\d+$/.test(plain)) return whole(plain.replace('+', ''))
  const number = Number(plain)
  return Number.isFinite(number) ? number : text
}

export function writtenNumber(value: unknown, comma: boolean): string {
  return comma && typeof value === 'number' ? String(value).replace('.', ',') : shown(value)
}
