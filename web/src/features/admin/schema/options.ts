import { type Schema, withKeyword } from './kinds'

/** A choice of an `enum`, as it is typed. */
export interface Option {
  value: string
  label: string
}

export function optionsOf(schema: Schema): Option[] {
  const values = Array.isArray(schema.enum) ? schema.enum : []
  const labels = Array.isArray(schema['x-enum-labels']) ? schema['x-enum-labels'] : []
  return values.map((value, index) => ({
    value: typeof value === 'string' ? value : JSON.stringify(value),
    label: typeof labels[index] === 'string' ? labels[index] : '',
  }))
}

/** Puts choices into a schema. Those of a list of numbers or switches stay numbers or switches. */
export function withOptions(schema: Schema, options: Option[]): Schema {
  const labelled = options.some(({ label }) => label !== '')
  const labels = labelled ? options.map(({ label }) => label || null) : undefined
  const values = options.map(({ value }) => typed(value, schema.type))
  const next = withKeyword({ ...schema, enum: values }, 'x-enum-labels', labels)
  const fits = schema.default === undefined || values.includes(schema.default as never)
  return fits ? next : withKeyword(next, 'default', undefined)
}

function typed(text: string, type: unknown): unknown {
  if (type === 'number' || type === 'integer') {
    const number = Number(text)
    return text.trim() !== '' && Number.isFinite(number) ? number : text
  }
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}
