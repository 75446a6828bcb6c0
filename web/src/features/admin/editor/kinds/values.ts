import { parse } from '~/api/exact'
import { isJson, list, own, text, texts } from '~/features/form/schema/json'
import { at, steps } from '~/features/form/schema/pointer'

/** One of several values that go by names, as a row shows it. */
export interface ValueRow {
  name: string
  description?: string
  isRequired: boolean
  /** Whether a schema asks for it. Anything else stands there because somebody wrote it. */
  isKnown: boolean
  /** The types that the schema lets through, as far as it says so. */
  types: string[]
}

/** What a schema asks for, in its order, and whatever else is there. */
export function rowsOf(schema: unknown, value: unknown): ValueRow[] {
  const members = isJson(schema) && isJson(schema.properties) ? schema.properties : {}
  const required = isJson(schema) ? texts(schema.required) : []
  const known = Object.entries(members).map(([name, member]) => ({
    name,
    description: isJson(member) ? (text(member.description) ?? text(member.title)) : undefined,
    isRequired: required.includes(name),
    isKnown: true,
    types: typesOf(member, schema),
  }))
  const others = Object.keys(isJson(value) ? value : {}).filter(
    (name) => !Object.hasOwn(members, name),
  )
  const unknown = others.map((name) => ({ name, isRequired: false, isKnown: false, types: [] }))
  return [...known, ...unknown]
}

const DEPTH_MAX = 8

/** The types of a schema; none where it does not say so plainly. */
export function typesOf(schema: unknown, root: unknown, depth = 0): string[] {
  if (!isJson(schema) || depth > DEPTH_MAX) return []
  const said = typeof schema.type === 'string' ? [schema.type] : texts(schema.type)
  if (said.length > 0) return said
  const ref = text(schema.$ref)
  if (ref?.startsWith('#')) return typesOf(at(root, steps(ref.slice(1))), root, depth + 1)
  const branches = [...list(schema.anyOf), ...list(schema.oneOf)]
  return branches.flatMap((branch) => typesOf(branch, root, depth + 1))
}

/**
 * The types beside text that a row may become: those of its schema, unless that takes text as well, and the one that it
 * came as.
 */
export function typesBesideText(types: readonly string[], came: unknown): string[] {
  const bySchema = types.includes('string') ? [] : types
  return came === undefined || typeof came === 'string'
    ? [...bySchema]
    : [...bySchema, typeOf(came)]
}

/** What a row says; without an answer it is JSON that is half typed. Text stays text where nothing else is wanted. */
export function readValue(
  typed: string,
  wanted: readonly string[],
): { value: unknown } | undefined {
  if (wanted.length === 0) return { value: typed }
  try {
    const value = parse(typed)
    return { value: wanted.some((type) => isOf(value, type)) ? value : typed }
  } catch {
    const wantsMany = wanted.some((type) => type === 'object' || type === 'array')
    // `{{` begins an expression, which is text.
    return wantsMany && /^\s*(\{(?!\{)|\[)/.test(typed) ? undefined : { value: typed }
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'bigint' ? 'number' : typeof value
}

function isOf(value: unknown, type: string): boolean {
  if (type === 'integer') return typeof value === 'bigint' || Number.isInteger(value)
  return typeOf(value) === type
}

/** A text with another one where the cursor is, or in place of what is marked. */
export function inserted(before: string, from: number, to: number, what: string): string {
  return before.slice(0, from) + what + before.slice(to)
}

/** The value under a name, as far as there is one. */
export function memberOf(value: unknown, name: string): unknown {
  return isJson(value) ? own(value, name) : undefined
}
