import { type Description, followed, type Schema } from './model'

/** `needed` has what a schema requires and nothing else, `all` every property. */
export type Extent = 'needed' | 'all'

/** Schemas may refer to themselves. */
const DEPTH_MAX = 8

const OF_FORMATS: Record<string, string> = {
  uuid: '01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11',
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  email: 'ada@example.com',
  uri: 'https://example.com',
}

/** A value that fits a schema, to be changed by whoever sends it. */
export function exampleOf(api: Description, given: Schema, extent: Extent, depth = 0): unknown {
  const schema = followed(api, given)
  const said = [
    schema.example,
    schema.examples?.[0],
    schema.const,
    schema.default,
    schema.enum?.[0],
  ]
  const own = said.find((value) => value !== undefined)
  if (own !== undefined) return own
  if (depth > DEPTH_MAX) return null
  const inner = (part: Schema) => exampleOf(api, part, extent, depth + 1)
  const { allOf, oneOf, anyOf } = schema
  const choice = (oneOf ?? anyOf)?.find((part) => typeOf(followed(api, part)) !== 'null')
  if (choice) return inner(choice)
  const base = objectOf(schema, extent, inner)
  if (allOf) return merged([...allOf.map(inner), base])
  switch (typeOf(schema)) {
    case 'object':
      return base
    case 'array':
      return schema.items && extent === 'all' ? [inner(schema.items)] : []
    case 'integer':
    case 'number':
      return schema.minimum ?? 0
    case 'boolean':
      return true
    case 'string':
      return OF_FORMATS[schema.format ?? ''] ?? 'text'
    default:
      return schema.properties ? base : null
  }
}

/** The type of a value that is there: `null` counts only where there is nothing else. */
export function typeOf({ type }: Schema): string | undefined {
  return Array.isArray(type) ? (type.find((name) => name !== 'null') ?? 'null') : type
}

function objectOf(
  { properties = {}, required = [] }: Schema,
  extent: Extent,
  inner: (part: Schema) => unknown,
): Record<string, unknown> {
  const wanted = Object.entries(properties).filter(
    ([name]) => extent === 'all' || required.includes(name),
  )
  return Object.fromEntries(wanted.map(([name, part]) => [name, inner(part)]))
}

/** One value of all parts; a part that is no object stands for itself. */
function merged(parts: unknown[]): unknown {
  const other = parts.find((part) => typeof part !== 'object' || part === null)
  return other !== undefined && other !== null ? other : Object.assign({}, ...parts)
}
