import { parse, stringify } from '~/api/exact'
import { Hints } from '~/features/result/hints'
import { isObject, type Json, type JsonObject } from '~/features/result/json'
import { label, number } from '~/features/result/words'

/** Longer addresses are cut or refused somewhere on the way. */
export const LINK_MAX = 8_000

/** The input that a link carries, or why it is none. */
export function fromLink(text: string): { input: JsonObject } | { fault: LinkFault } {
  try {
    const input = parse(text)
    return isObject(input) ? { input } : { fault: 'no_object' }
  } catch {
    // In the address it is about twice as long.
    return { fault: text.length < LINK_MAX / 2 ? 'broken' : 'cut' }
  }
}

export type LinkFault = 'broken' | 'cut' | 'no_object'

/** A link to a tool with its form filled in. */
export function linkTo(origin: string, slug: string, input: unknown): string {
  const query = new URLSearchParams({ input: stringify(input) })
  return `${origin}/tools/${encodeURIComponent(slug)}?${query}`
}

/** The inputs that a tool gives as examples, each with the few words that tell it from the others. */
export function examples(schema: unknown): { label: string; input: JsonObject }[] {
  const given = isObject(schema) && Array.isArray(schema.examples) ? schema.examples : []
  const hints = new Hints(schema)
  return given.filter(isObject).map((input) => ({ label: sketch(input, hints), input }))
}

const WORDS = 3
const LETTERS = 32

function sketch(input: JsonObject, hints: Hints): string {
  const parts = Object.entries(input)
    .slice(0, WORDS)
    .map(([key, value]) => brief(value, label(key, hints.below(key).hint)))
    .filter(Boolean)
  const text = parts.join(', ')
  return text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text
}

/** Words speak for themselves; numbers need to be told what they count. */
function brief(value: Json, name: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return `${name} ${number(value)}`
  if (typeof value === 'boolean') return value ? name : ''
  return Array.isArray(value) ? value.map(nameOf).filter(Boolean).join(', ') : nameOf(value)
}

function nameOf(value: Json): string {
  if (!isObject(value)) return String(value ?? '')
  return typeof value.name === 'string' ? value.name : ''
}
