import { locale } from '~/i18n'
import { intlUnit } from '~/i18n/units'

import type { Hint } from './hints'

/** A name made for programs, in words: `netCashFlow`, `net_cash_flow` and `net-cash-flow` read alike. */
export function humanise(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[\s_-]+/)
    .filter(Boolean)
    .map((word) => (isShort(word) ? word.toUpperCase() : word.toLowerCase()))
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1) || name
}

const SHORT = new Set('api csv fte html http id ip iso json npv pdf roi url utc'.split(' '))

/** Whether a word is a row of letters that people write large. */
function isShort(word: string): boolean {
  return /^[A-Z\d]{2,}$/.test(word) || SHORT.has(word.toLowerCase())
}

/** Counts and scores say what they are in their label. */
const SILENT = new Set(['points', 'count'])

/** A number as people write it, with its unit. `currency` is the one that the output names. */
export function number(value: number, unit?: string, currency?: string): string {
  const language = locale()
  const plain = new Intl.NumberFormat(language, { maximumFractionDigits: 6 })
  if (!unit || SILENT.has(unit)) return plain.format(value)
  if (unit === 'currency') return money(value, language, currency)
  if (unit === 'percent') {
    const percent = { style: 'unit', unit: 'percent', maximumFractionDigits: 2 } as const
    return new Intl.NumberFormat(language, percent).format(value)
  }
  if (unit === 'times') return `${plain.format(value)} ×`
  const known = intlUnit(unit)
  if (!known) return `${plain.format(value)} ${unit}`
  const options = { style: 'unit', unit: known, unitDisplay: 'long' } as const
  return new Intl.NumberFormat(language, options).format(value)
}

function money(value: number, language: string, currency = ''): string {
  if (!/^[A-Z]{3}$/.test(currency)) {
    return new Intl.NumberFormat(language, { maximumFractionDigits: 2 }).format(value)
  }
  const options = { style: 'currency', currency, maximumFractionDigits: 2 } as const
  const whole = Number.isInteger(value) ? { minimumFractionDigits: 0 } : {}
  return new Intl.NumberFormat(language, { ...options, ...whole }).format(value)
}

/** Numbers on an axis, where there is little room. Thousands are set apart as in tables, also where there is but one. */
export function short(value: number): string {
  return new Intl.NumberFormat(locale(), {
    notation: 'compact',
    maximumFractionDigits: 1,
    useGrouping: 'always',
  }).format(value)
}

/** The label of a place: its title, else its name in words. */
export function label(key: string, hint?: Hint): string {
  return hint?.title ?? humanise(key)
}

/** A link that may be opened: http, https and mailto, and nothing else that an address can do. */
export function safeLink(text: string): string | undefined {
  if (!/^(https?:\/\/|mailto:)\S+$/i.test(text)) return undefined
  return URL.canParse(text) ? text : undefined
}
