import { isObject, type JsonObject } from '~/features/result/json'

const SHAPES = [
  'properties',
  'patternProperties',
  '$ref',
  'oneOf',
  'anyOf',
  'allOf',
  'if',
  'enum',
  'const',
]

/** A schema in which a part that may hold anything is written as JSON: a form has no fields for it. */
export function withJsonParts(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const next = { ...schema }
  if (isObject(schema.properties)) next.properties = mapped(schema.properties, part)
  if (isObject(schema.items)) next.items = part(schema.items) as JsonObject
  return next
}

function part(schema: unknown): unknown {
  const isJson = isObject(schema) && isOpen(schema)
  return isJson ? { ...schema, 'x-variant': 'json' } : withJsonParts(schema)
}

/** Whether a schema says of an object only that it is one. */
function isOpen(schema: JsonObject): boolean {
  const { type, additionalProperties } = schema
  if (type !== 'object' || isObject(additionalProperties)) return false
  return additionalProperties !== false && !SHAPES.some((shape) => Object.hasOwn(schema, shape))
}

function mapped(members: JsonObject, change: (schema: unknown) => unknown): JsonObject {
  return Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, change(schema)]),
  ) as JsonObject
}
