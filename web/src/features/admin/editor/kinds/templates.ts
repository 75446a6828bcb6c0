import { isJson, same } from '~/features/form/schema/json'
import type { Schema } from '../../schema/kinds'
import type { Definition } from '../definition'

/** Something of the program that a tool can be made of. */
export interface Template {
  key: string
  name: string
  description: string
  input_schema: Schema
  output_schema: Schema | null
}

type Told = Pick<Definition, 'input_schema' | 'output_schema' | 'description'>

/** Whether a schema says nothing yet, so that a template's own may take its place. */
export function isUntold(schema: unknown): boolean {
  if (!isJson(schema)) return true
  const { type: _, properties, additionalProperties: __, ...rest } = schema
  const isEmpty = !isJson(properties) || Object.keys(properties).length === 0
  return isEmpty && Object.keys(rest).length === 0
}

/** Whether a tool takes and gives what a template does. */
export function hasFormOf(template: Template, { input_schema, output_schema }: Told): boolean {
  return same(input_schema, template.input_schema) && same(output_schema, template.output_schema)
}

/** Input and output of a template, which belong together. */
export function formOf({ input_schema, output_schema }: Template): Partial<Told> {
  return { input_schema, output_schema }
}

/**
 * What a template that was chosen tells a tool. It takes the place of what nobody has told yet, and of what another
 * template told and nobody changed; `known` are all templates. What a person wrote stays.
 */
export function toldBy(template: Template, now: Told, known: readonly Template[]): Partial<Told> {
  const told: Partial<Told> = {}
  if (known.some((other) => hasFormOf(other, now))) {
    Object.assign(told, formOf(template))
  } else if (isUntold(now.input_schema)) {
    told.input_schema = template.input_schema
    if (now.output_schema === null) told.output_schema = template.output_schema
  }
  const isFree =
    now.description === '' || known.some((other) => other.description === now.description)
  if (isFree) told.description = template.description
  return told
}
