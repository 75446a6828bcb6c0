import { humanize } from './humanize'
import { isJson, type Json, list, text } from './json'

export function isNull(schema: unknown): boolean {
  return isJson(schema) && (schema.type === 'null' || schema.const === null)
}

/** A branch that stands for one value, and what it is called. */
export function constant(schema: unknown): { value: unknown; label?: string } | undefined {
  if (!isJson(schema)) return undefined
  const entries = list(schema.enum)
  if (schema.const === undefined && entries.length !== 1) return undefined
  return {
    value: schema.const ?? entries[0],
    label: text(schema.title) ?? text(schema.description),
  }
}

/** The type of a branch that is a mere text, number or truth value without a name. */
export function scalar(schema: unknown): string | undefined {
  if (!isJson(schema) || schema.title !== undefined || schema.enum !== undefined) return undefined
  return ['string', 'number', 'integer', 'boolean'].find((name) => name === schema.type)
}

/** Whether a branch draws nothing: `anyOf: [{ required: ['a'] }, { required: ['b'] }]`. */
export function onlyChecks(schema: Json): boolean {
  return Object.keys(schema).every((keyword) =>
    [
      'required',
      'not',
      'title',
      'description',
      '$comment',
      'minProperties',
      'maxProperties',
    ].includes(keyword),
  )
}

/** The constant by which a variant names itself, as in `{ "kind": { "const": "circle" } }`. */
export function variant(schema: Json): string | undefined {
  if (!isJson(schema.properties)) return undefined
  for (const property of Object.values(schema.properties)) {
    const value = isJson(property) ? (property.const ?? single(property.enum)) : undefined
    if (typeof value === 'string') return humanize(value)
  }
  return undefined
}

function single(entries: unknown): unknown {
  return Array.isArray(entries) && entries.length === 1 ? entries[0] : undefined
}
