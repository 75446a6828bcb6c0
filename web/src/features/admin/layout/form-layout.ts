import { isJson, type Json, list, same, text } from '~/features/form/schema/json'
import { at, pointer, steps } from '~/features/form/schema/pointer'
import type { Schema } from '../schema/kinds'
import { membersOf } from '../schema/members'

/** A field as a form shows it: what the form spec says of it, and what its schema is. */
export interface FormRow {
  path: string
  /** What the spec says, with its path. */
  said: Json
  /** None where the input schema has no such field. */
  schema?: Schema
}

export interface FormSection extends Json {
  id: string
}

const VERSION = 2

/** The fields of a form, in the order in which it shows them. Whatever the spec does not name follows. */
export function rowsOf(spec: unknown, input: Schema): FormRow[] {
  const entries = entriesOf(spec)
  const named = entries.map((said) => String(said.path))
  const rest = membersOf(input)
    .map(({ name }) => pointer([name]))
    .filter((path) => !named.includes(path))
    .map((path): Json => ({ path }))
  return [...entries, ...rest].map((said) => {
    const path = String(said.path)
    return { path, said, schema: schemaAt(input, path) }
  })
}

/** The schema of a field by the path that a form spec gives it; a `*` stands for every item. */
function schemaAt(input: Schema, path: string): Schema | undefined {
  let here: unknown = input
  for (const step of steps(path)) {
    here = step === '*' ? at(here, ['items']) : at(here, ['properties', step])
  }
  return isJson(here) ? here : undefined
}

function entriesOf(spec: unknown): Json[] {
  const fields = isJson(spec) ? list(spec.fields) : []
  return fields.filter(isJson).filter(({ path }) => text(path))
}

export function sectionsOf(spec: unknown): FormSection[] {
  const sections = isJson(spec) ? list(spec.sections) : []
  return sections.filter((section): section is FormSection => isJson(section) && !!text(section.id))
}

/** A spec with other rows. What says nothing is left out; a spec that says nothing is none. */
function withRows(spec: unknown, input: Schema, rows: readonly Json[]): Schema | null {
  const names = membersOf(input).map(({ name }) => pointer([name]))
  const fields = [...rows]
  const order = (entries: readonly Json[]) => {
    const named = entries.map(({ path }) => path)
    return [...named, ...names.filter((path) => !named.includes(path))]
  }
  // The last one need not be named if it would stand there anyway.
  for (let last = fields.at(-1); last && isBare(last); last = fields.at(-1)) {
    if (!same(order(fields), order(fields.slice(0, -1)))) break
    fields.pop()
  }
  const { fields: _, ...rest } = isJson(spec) ? spec : { version: VERSION }
  const { version, sections, ...others } = rest as Json
  const saysMore = list(sections).length > 0 || Object.keys(others).length > 0
  if (fields.length === 0 && !saysMore) return null
  const kept = list(sections).length > 0 ? { sections } : {}
  return { version: version ?? VERSION, ...others, ...kept, fields }
}

function isBare(said: Json): boolean {
  return Object.keys(said).every((name) => name === 'path')
}

/** Says something else of a field; `undefined` takes a word back. */
export function sayOf(spec: unknown, input: Schema, path: string, words: Json): Schema | null {
  const rows = rowsOf(spec, input).map(({ said }) =>
    said.path === path ? without({ ...said, ...words }) : said,
  )
  return withRows(spec, input, rows)
}

/** Moves a field up (-1) or down (1). */
export function moveRow(spec: unknown, input: Schema, index: number, by: -1 | 1): Schema | null {
  const rows = rowsOf(spec, input).map(({ said }) => said)
  const moved = rows[index]
  if (!moved || !rows[index + by]) return withRows(spec, input, rows)
  return withRows(spec, input, rows.toSpliced(index, 1).toSpliced(index + by, 0, moved))
}

/** Says nothing of a field any more. */
export function dropRow(spec: unknown, input: Schema, path: string): Schema | null {
  const rows = entriesOf(spec).filter((said) => said.path !== path)
  return withRows(spec, input, rows)
}

/** A spec with other sections. A field of one that is gone stands outside of all. */
export function withSections(
  spec: unknown,
  input: Schema,
  sections: readonly FormSection[],
): Schema | null {
  const ids = sections.map(({ id }) => id)
  const rows = entriesOf(spec).map((said) =>
    said.section === undefined || ids.includes(String(said.section))
      ? said
      : without({ ...said, section: undefined }),
  )
  const from = isJson(spec) ? spec : { version: VERSION }
  return withRows({ ...from, sections }, input, rows)
}

/** A section to begin with, under an id that no other one has. */
export function newSection(sections: readonly FormSection[], title: string): FormSection {
  const taken = sections.map(({ id }) => id)
  let number = sections.length + 1
  while (taken.includes(`section_${number}`)) number++
  return { id: `section_${number}`, title: `${title} ${number}` }
}

/** The same without what is undefined or an empty text. */
export function without<T extends Json>(said: T): T {
  const left = Object.entries(said).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(left) as T
}

/** A list after one entry has moved up (-1) or down (1). */
export function moved<T>(entries: readonly T[], index: number, by: -1 | 1): T[] {
  const entry = entries[index]
  if (entry === undefined || entries[index + by] === undefined) return [...entries]
  return entries.toSpliced(index, 1).toSpliced(index + by, 0, entry)
}
