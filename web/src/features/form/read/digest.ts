import { type TFunction } from '~/i18n'
import { plain } from '~/kit/plain'
import { currencyOf } from '../controls/currency'
import { isJson, type Json, same } from '../schema/json'
import { counted } from './counted'
import type { Place } from './place'

/** More than that nobody takes in at a glance. */
const VALUES_SHOWN = 4
const TEXT_SHOWN = 60

export interface Digest {
  values: { name: string; label: string; text: string }[]
  /** How many values are left out. */
  more: number
}

export interface Words {
  t: TFunction
  locale: string
}

/**
 * An input in one line: the values that matter, each behind what the form calls it. First those in which the inputs
 * of a list differ, then what the tool requires, then what is not as it would be by default.
 */
export function digest(
  place: Place,
  input: unknown,
  words: Words,
  varying: ReadonlySet<string> = new Set(),
): Digest {
  if (!isJson(input)) return { values: [], more: 0 }
  const required = place.required
  const told = place.namesIn(input).flatMap((name) => {
    const here = place.at(name)
    const isUsual = isNothing(input[name]) || same(input[name], here.schema.default)
    if (varying.has(name)) return { name, here, rank: 0 }
    if (isUsual) return []
    return { name, here, rank: required.has(name) ? 1 : 2 }
  })
  const chosen = new Set(told.toSorted((a, b) => a.rank - b.rank).slice(0, VALUES_SHOWN))
  const currency = currencyOf(input)
  return {
    values: told
      .filter((value) => chosen.has(value))
      .map(({ name, here }) => ({
        name,
        label: here.label,
        text: inShort(here, input[name], words, currency),
      })),
    more: told.length - chosen.size,
  }
}

/** Every value of an input behind what the form calls it, each in one line. */
export function valuesOf(place: Place, input: unknown, words: Words): Digest['values'] {
  if (!isJson(input)) return []
  const currency = currencyOf(input)
  return place.namesIn(input).map((name) => {
    const here = place.at(name)
    return { name, label: here.label, text: inShort(here, input[name], words, currency) }
  })
}

/** The members in which inputs differ. */
export function varyingIn(inputs: readonly unknown[]): Set<string> {
  const [first, ...others] = inputs.filter(isJson)
  if (!first) return new Set()
  const names = new Set([first, ...others].flatMap((input) => Object.keys(input)))
  return new Set([...names].filter((name) => others.some((input) => differs(first, input, name))))
}

function differs(one: Json, other: Json, name: string): boolean {
  const [left, right] = [one, other].map((input) =>
    Object.hasOwn(input, name) ? input[name] : undefined,
  )
  return !same(left, right)
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** A value in one line. */
export function inShort(place: Place, value: unknown, words: Words, currency?: string): string {
  const { t, locale } = words
  if (isNothing(value)) return t('read.nothing')
  if (place.isSecret) return '••••••••'
  const choice = place.choice(value)
  if (choice !== undefined) return cut(choice)
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no')
  if (typeof value === 'number' || typeof value === 'bigint') {
    return counted(value, place.unit, currency, locale)
  }
  if (Array.isArray(value)) {
    const isFlat = value.length <= VALUES_SHOWN && value.every((entry) => typeof entry !== 'object')
    return isFlat
      ? value.map((entry, index) => inShort(place.at(index), entry, words, currency)).join(', ')
      : t('read.entries', { count: value.length })
  }
  if (isJson(value)) return t('read.fields', { count: Object.keys(value).length })
  const text = String(value)
  return text.startsWith('data:') ? t('file.inside') : cut(text)
}

/** The beginning of a text, in one line. */
function cut(text: string): string {
  const line = text.slice(0, TEXT_SHOWN + 1).replaceAll(/\s+/g, ' ')
  return plain(text.length > TEXT_SHOWN ? `${line.slice(0, TEXT_SHOWN)}…` : line)
}
