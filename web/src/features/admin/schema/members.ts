import { isSchema, type Schema, shapeOf, withKeyword } from './kinds'

/** A property of an object schema. */
export interface Member {
  name: string
  schema: Schema
  required: boolean
}

/** The properties of an object, in their order. `true` and `false` are schemas too, and say nothing. */
export function membersOf(object: Schema): Member[] {
  const required = requiredOf(object)
  return Object.entries(propertiesOf(object)).map(([name, schema]) => ({
    name,
    schema: isSchema(schema) ? schema : {},
    required: required.includes(name),
  }))
}

/** Adds an empty text field at the end, under a name that is still free. */
export function addMember(object: Schema): Schema {
  const properties = propertiesOf(object)
  let name = 'field'
  for (let n = 2; Object.hasOwn(properties, name); n++) name = `field_${n}`
  return { ...object, properties: { ...properties, [name]: shapeOf('text') } }
}

export function removeMember(object: Schema, name: string): Schema {
  const { [name]: _, ...properties } = propertiesOf(object)
  return withRequired({ ...object, properties }, name, false)
}

/** What is wrong with a new name of a property, if anything. */
export function faultOfName(
  object: Schema,
  from: string,
  to: string,
): 'empty' | 'taken' | 'long' | undefined {
  if (to.trim() === '') return 'empty'
  if (to.length > 128) return 'long'
  return to !== from && Object.hasOwn(propertiesOf(object), to) ? 'taken' : undefined
}

/** Renames a property where it stands, also where it is named as required. */
export function renameMember(object: Schema, from: string, to: string): Schema {
  if (from === to || faultOfName(object, from, to)) return object
  const entries = Object.entries(propertiesOf(object))
  const properties = Object.fromEntries(
    entries.map(([name, schema]) => [name === from ? to : name, schema]),
  )
  const next: Schema = { ...object, properties }
  const required = requiredOf(object)
  if (required.includes(from)) {
    next.required = required.map((name) => (name === from ? to : name))
  }
  return next
}

/** Moves a property up (-1) or down (1). */
export function moveMember(object: Schema, name: string, by: -1 | 1): Schema {
  const entries = Object.entries(propertiesOf(object))
  const from = entries.findIndex(([key]) => key === name)
  const to = from + by
  const moved = entries[from]
  const passed = entries[to]
  if (!moved || !passed) return object
  entries[from] = passed
  entries[to] = moved
  return { ...object, properties: Object.fromEntries(entries) }
}

export function changeMember(object: Schema, name: string, schema: Schema): Schema {
  return { ...object, properties: { ...propertiesOf(object), [name]: schema } }
}

export function withRequired(object: Schema, name: string, required: boolean): Schema {
  const others = requiredOf(object).filter((other) => other !== name)
  const names = required ? [...others, name] : others
  // In the order of the properties, so that switching back and forth changes nothing.
  const order = Object.keys(propertiesOf(object))
  names.sort((a, b) => order.indexOf(a) - order.indexOf(b))
  return withKeyword(object, 'required', names.length > 0 ? names : undefined)
}

function propertiesOf(object: Schema): Schema {
  return isSchema(object.properties) ? object.properties : {}
}

function requiredOf(object: Schema): string[] {
  return Array.isArray(object.required)
    ? object.required.filter((name) => typeof name === 'string')
    : []
}
