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

/** Leaves out what was not given: who reads a call is not to search for it among empty fields. */
export function withoutEmpty(schema: unknown, value: unknown): unknown {
  if (!isObject(schema) || !isObject(schema.properties) || !isObject(value)) return schema
  const given = Object.entries(schema.properties).filter(([name]) => value[name] !== undefined)
  return { ...schema, properties: Object.fromEntries(given) }
}

/** Whether a schema says of an object only that it is one. */
export function isOpen(schema: JsonObject): boolean {
  const { type, additionalProperties } = schema
  if (type !== 'object' || isObject(additionalProperties)) return false
  return additionalProperties !== false && !SHAPES.some((shape) => Object.hasOwn(schema, shape))
}

function mapped(members: JsonObject, change: (schema: unknown) => unknown): JsonObject {
  return Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, change(schema)]),
  ) as JsonObject
}
