import { isJson, list, own, text } from '~/features/form/schema/json'
import { at, type Step, steps } from '~/features/form/schema/pointer'

/** A field of a value, by the way that leads to it. */
export interface KnownField {
  path: Step[]
  /** What stood there the last time. */
  example?: unknown
}

const DEPTH_MAX = 5
const FIELDS_MAX = 80

/** The fields of a value, as far as its schema describes them or an example has them. Of a list, those of its first entry. */
export function knownFields(schema: unknown, example?: unknown): KnownField[] {
  const found: KnownField[] = []
  const walk = (here: unknown, value: unknown, path: Step[]) => {
    if (path.length > DEPTH_MAX || found.length >= FIELDS_MAX) return
    const described = resolved(here, schema)
    if (path.length > 0) found.push({ path, example: value })
    const members = isJson(described.properties) ? described.properties : {}
    const known = isJson(value) ? value : {}
    for (const name of new Set([...Object.keys(members), ...Object.keys(known)])) {
      walk(own(members, name), own(known, name), [...path, name])
    }
    const isList = described.type === 'array' || Array.isArray(value)
    const first = list(value)[0]
    if (isList && (isJson(described.items) || first !== undefined)) {
      walk(described.items, first, [...path, 0])
    }
  }
  walk(schema, example, [])
  return found
}

/** A schema behind its references; of several branches the first that describes something. */
function resolved(schema: unknown, root: unknown, depth = 0): Record<string, unknown> {
  if (!isJson(schema) || depth > DEPTH_MAX) return {}
  const ref = text(schema.$ref)
  if (ref?.startsWith('#')) return resolved(at(root, steps(ref.slice(1))), root, depth + 1)
  if (isJson(schema.properties) || schema.items !== undefined) return schema
  const branches = [...list(schema.anyOf), ...list(schema.oneOf), ...list(schema.allOf)]
  const inside = branches.map((branch) => resolved(branch, root, depth + 1))
  return inside.find(({ properties, items }) => isJson(properties) || items !== undefined) ?? schema
}

/** An example in a few characters; what has parts of its own is not repeated. */
export function exampleWords(example: unknown): string | undefined {
  if (example === undefined || isJson(example)) return undefined
  if (Array.isArray(example)) return undefined
  const words = typeof example === 'string' ? example : String(example)
  return words.length > 40 ? `${words.slice(0, 39)}…` : words
}
