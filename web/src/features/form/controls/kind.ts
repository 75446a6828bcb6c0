import { isJson, type Json, list, text } from '../schema/json'
import { layers } from '../schema/layers'
import type { Step } from '../schema/pointer'
import type { FieldLook } from '../schema/ui'

export type Kind =
  | 'any'
  | 'boolean'
  | 'checkboxes'
  | 'choice'
  | 'const'
  | 'date'
  | 'date-time'
  | 'file'
  | 'json'
  | 'lazy'
  | 'list'
  | 'multi-select'
  | 'null'
  | 'number'
  | 'object'
  | 'password'
  | 'radio'
  | 'rating'
  | 'select'
  | 'slider'
  | 'tags'
  | 'text'
  | 'textarea'
  | 'time'
  | 'yes-no'

/** Text of more than this many characters gets several lines. */
const LINE_MAX = 200
/** So many choices fit under each other; more are picked one by one. */
const BOXES_MAX = 30

/** More stars than this nobody counts. */
const STARS_MAX = 10

/** How a field wants to be shown: by the form spec, else by its schema. */
export function variantOf(schema: Json, look: FieldLook): string | undefined {
  return look.variant ?? text(schema['x-variant'])
}

/**
 * Whether a field has to be answered. An item of a list is there because somebody has added it, and a form that is one
 * value asks for that one.
 */
export function mustAnswer(required: boolean, path: readonly Step[]): boolean {
  return path.length === 0 || (required && typeof path.at(-1) !== 'number')
}

/**
 * How a part of the form is shown, by its schema and by what the form spec wishes. Where an answer is needed and none is
 * given beforehand, yes and no stand beside each other: a switch would answer for the person.
 */
export function kindOf(schema: Json, look: FieldLook, root: unknown, isNeeded = false): Kind {
  const variant = variantOf(schema, look)
  if (schema['x-lazy']) return 'lazy'
  if (schema.const !== undefined) return 'const'
  if (Array.isArray(schema.enum))
    return variant === 'radio' || variant === 'segmented' ? 'radio' : 'select'
  if (schema['x-any']) return 'any'
  switch (schema.type) {
    case 'boolean':
      return isNeeded && schema['x-default'] === undefined ? 'yes-no' : 'boolean'
    case 'integer':
    case 'number':
      return numberKind(schema, variant)
    case 'string':
      return textKind(schema, look, variant)
    case 'array':
      return arrayKind(schema, variant, root)
    case 'object':
      return variant === 'json' ? 'json' : 'object'
    case 'null':
      return 'null'
    default:
      return schema.oneOf || schema.anyOf ? 'choice' : schema.allOf || schema.if ? 'object' : 'any'
  }
}

function numberKind(schema: Json, variant: string | undefined): Kind {
  if (variant === 'rating' && starsOf(schema)) return 'rating'
  const bounded = typeof schema.minimum === 'number' && typeof schema.maximum === 'number'
  return bounded && (variant === 'slider' || variant === 'rating') ? 'slider' : 'number'
}

/** The marks that a rating can give: one to five where the schema does not say. None where there are too many. */
export function starsOf(schema: Json): number[] | undefined {
  const { minimum = 1, maximum = 5 } = schema
  const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0
  const isOdd = ['multipleOf', 'exclusiveMinimum', 'exclusiveMaximum'].some(
    (word) => word in schema,
  )
  if (isOdd || !isCount(minimum) || !isCount(maximum) || Number(maximum) > STARS_MAX)
    return undefined
  const count = Number(maximum) - Number(minimum) + 1
  return count > 1
    ? Array.from({ length: count }, (_, index) => Number(minimum) + index)
    : undefined
}

function textKind(schema: Json, look: FieldLook, variant: string | undefined): Kind {
  if (look.upload || schema['x-toolwright-type'] === 'media') return 'file'
  const format = text(schema.format)
  if (format === 'date' || format === 'date-time' || format === 'time') return format
  if (format === 'password' || variant === 'password') return 'password'
  const lines = ['textarea', 'markdown', 'code'].includes(variant ?? '') || format === 'textarea'
  const long = typeof schema.maxLength === 'number' && schema.maxLength > LINE_MAX && !format
  const broken = [schema['x-default'], ...list(schema.examples)].some(
    (entry) => typeof entry === 'string' && entry.includes('\n'),
  )
  return lines || long || broken || look.rows !== undefined ? 'textarea' : 'text'
}

function arrayKind(schema: Json, variant: string | undefined, root: unknown): Kind {
  if (Array.isArray(schema.items)) return 'list'
  const [entries] = choices(schema, root)
  if (entries && variant === 'multi-select') return 'multi-select'
  if (entries && variant !== 'list' && entries.length <= BOXES_MAX) return 'checkboxes'
  const plain = layers(root, [schema.items]).some((layer) => layer.type === 'string')
  return variant === 'tags' && plain ? 'tags' : 'list'
}

/** The choices for the items of an array, and their labels. */
export function choices(schema: Json, root: unknown): [unknown[], unknown[]] | [] {
  const holder = layers(root, [schema.items]).find((layer) => Array.isArray(layer.enum))
  return isJson(holder) ? [list(holder.enum), list(holder['x-enum-labels'])] : []
}
