/** A JSON Schema, or any part of one. Keywords that are not known here are kept as they are. */
export type Schema = Record<string, unknown>

/** The twelve types of a field, each with the ways it can be shown, the usual one first. */
export const VARIANTS = {
  text: ['input', 'textarea', 'markdown', 'code', 'password'],
  number: ['input', 'integer', 'slider', 'currency', 'percent', 'rating'],
  boolean: ['switch', 'checkbox'],
  date: ['date', 'datetime', 'time'],
  enum: ['select', 'radio', 'segmented'],
  url: ['input', 'link', 'image'],
  email: ['input', 'link'],
  phone: ['input', 'link'],
  media: ['upload', 'image', 'video', 'audio'],
  relation: ['picker', 'link'],
  object: ['group', 'inline', 'json'],
  array: ['list', 'table', 'tags', 'multi-select'],
} as const satisfies Record<string, readonly [string, ...string[]]>

export type Kind = keyof typeof VARIANTS
export const KINDS = Object.keys(VARIANTS) as Kind[]

const PHONE_PATTERN = '^\\+?[0-9(][0-9 ()./-]{2,30}$'
const DATE_FORMATS: Record<string, string> = { date: 'date', datetime: 'date-time', time: 'time' }

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The type of a field, told as the server tells it; none where a schema says more than fields can. */
export function kindOf(schema: Schema): Kind | undefined {
  const said = schema['x-toolwright-type']
  if (said !== undefined) return KINDS.find((kind) => kind === said)
  if ('enum' in schema) return Array.isArray(schema.enum) ? 'enum' : undefined
  const { type, format } = schema
  if (type === 'string') return kindOfText(schema)
  if (format !== undefined) return undefined
  if (type === 'number' || type === 'integer') return 'number'
  return (['boolean', 'object', 'array'] as const).find((kind) => kind === type)
}

function kindOfText({ format, ...schema }: Schema): Kind | undefined {
  if (format === undefined || format === 'password') {
    return 'x-entity-type' in schema ? 'relation' : 'text'
  }
  if (format === 'uri') return 'url'
  if (format === 'email') return 'email'
  return Object.values(DATE_FORMATS).includes(String(format)) ? 'date' : undefined
}

export function variantOf(schema: Schema, kind: Kind): string {
  const usual = VARIANTS[kind][0]
  if (typeof schema['x-variant'] === 'string') return schema['x-variant']
  if (kind === 'number' && schema.type === 'integer') return 'integer'
  if (kind === 'text' && schema.format === 'password') return 'password'
  if (kind !== 'date') return usual
  return Object.keys(DATE_FORMATS).find((key) => DATE_FORMATS[key] === schema.format) ?? usual
}

/** What a value of a type has to be, when nothing more is said of it. */
export function shapeOf(kind: Kind): Schema {
  switch (kind) {
    case 'text':
      return { type: 'string' }
    case 'number':
    case 'boolean':
      return { type: kind }
    case 'object':
      return { type: 'object', properties: {}, additionalProperties: false }
    case 'date':
      return { type: 'string', format: 'date' }
    case 'enum':
      return { type: 'string', enum: ['option_1', 'option_2'] }
    case 'url':
      return { type: 'string', format: 'uri' }
    case 'email':
      return { type: 'string', format: 'email' }
    case 'phone':
      return { type: 'string', pattern: PHONE_PATTERN, 'x-toolwright-type': 'phone' }
    case 'media':
    case 'relation':
      return { type: 'string', 'x-toolwright-type': kind }
    case 'array':
      return { type: 'array', items: { type: 'string' } }
  }
}

// What only makes sense with a type, and goes when the type does.
const OF_A_TYPE = `
  type format pattern minLength maxLength contentEncoding contentMediaType minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf enum const x-enum-labels default examples
  x-variant x-toolwright-type x-accept x-entity-type x-entity-select items prefixItems
  minItems maxItems uniqueItems contains properties required additionalProperties
  unevaluatedProperties patternProperties minProperties maxProperties $ref anyOf oneOf allOf
  not if then else
`
  .trim()
  .split(/\s+/)

/** Makes a field another type. Its words stay, what belonged to the old type does not. */
export function withKind(schema: Schema, kind: Kind): Schema {
  const kept = Object.entries(schema).filter(([keyword]) => !OF_A_TYPE.includes(keyword))
  return { ...shapeOf(kind), ...Object.fromEntries(kept) }
}

/** Shows a field another way. An integer and the kinds of dates are also other values. */
export function withVariant(schema: Schema, kind: Kind, variant: string): Schema {
  const next = withKeyword(schema, 'x-variant', variant === VARIANTS[kind][0] ? undefined : variant)
  if (kind === 'number') next.type = variant === 'integer' ? 'integer' : 'number'
  if (kind === 'date') next.format = DATE_FORMATS[variant] ?? 'date'
  if (kind === 'text') return withKeyword(next, 'format', undefined)
  return next
}

/** A schema with one keyword changed in its place; without a value it is taken out. */
export function withKeyword(schema: Schema, keyword: string, value: unknown): Schema {
  const next = { ...schema }
  if (value === undefined || value === '') delete next[keyword]
  else next[keyword] = value
  return next
}
