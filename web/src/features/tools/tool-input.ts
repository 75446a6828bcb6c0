import { parse, stringify } from '~/api/exact'
import { Hints } from '~/features/result/hints'
import { isObject, type Json, type JsonObject } from '~/features/result/json'
import { label, number } from '~/features/result/words'

/** Longer addresses are cut or refused somewhere on the way. */
const LINK_MAX = 8_000

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

/** A link to a tool with its form filled in; none where it would be too long. */
export function linkTo(origin: string, slug: string, input: unknown): string | undefined {
  const text = stringify(input)
  // An address is longer than what it carries.
  if (text.length > LINK_MAX) return undefined
  const link = `${origin}/tools/${encodeURIComponent(slug)}?${new URLSearchParams({ input: text })}`
  return link.length <= LINK_MAX ? link : undefined
}

/** The inputs that a tool gives as examples, each with what is in it, line by line. */
export function examples(schema: unknown): { about: string; input: JsonObject }[] {
  const given = isObject(schema) && Array.isArray(schema.examples) ? schema.examples : []
  const hints = new Hints(schema)
  return given.filter(isObject).map((input) => ({ about: sketch(input, hints), input }))
}

const LINES = 8
const LETTERS = 80

function sketch(input: JsonObject, hints: Hints): string {
  const lines = Object.entries(input).map(([key, value]) => {
    const line = `${label(key, hints.below(key).hint)}: ${brief(value)}`
    return line.length > LETTERS ? `${line.slice(0, LETTERS - 1)}…` : line
  })
  return (lines.length > LINES ? [...lines.slice(0, LINES), '…'] : lines).join('\n')
}

function brief(value: Json): string {
  if (typeof value === 'number') return number(value)
  if (!Array.isArray(value)) return nameOf(value)
  return value.map(nameOf).filter(Boolean).join(', ')
}

function nameOf(value: Json): string {
  if (!isObject(value)) return String(value ?? '–')
  return typeof value.name === 'string' ? value.name : '…'
}
