import { isJson, type Json, list, same } from './json'
import { item, layers, member, names } from './layers'
import { at, type Step, steps } from './pointer'
import { type FieldSpec, readCondition } from './spec'

/** When a field is shown: another place has, or has not, some value. */
export interface Condition {
  /** A JSON pointer. A `*` is the item in which the field itself stands; without a slash it names a neighbour. */
  path: string
  is: 'equals' | 'not_equals' | 'in' | 'exists'
  value: unknown
}

/** Whether the field at a path is shown while the form holds this value. */
export type Visibility = (path: readonly Step[], value: unknown) => boolean

/** Where there are no conditions. */
export const always: Visibility = () => true

export function holds(condition: Condition, path: readonly Step[], value: unknown): boolean {
  const found = at(value, place(condition.path, path))
  switch (condition.is) {
    case 'equals':
      return same(found, condition.value)
    case 'not_equals':
      return !same(found, condition.value)
    case 'in':
      return list(condition.value).some((entry) => same(found, entry))
    case 'exists':
      return (found !== undefined && found !== null && found !== '') === condition.value
  }
}

/** The place that a condition speaks of, seen from a field. */
function place(target: string, path: readonly Step[]): Step[] {
  if (!target.startsWith('/')) return [...path.slice(0, -1), target]
  return steps(target).map((step, index) => (step === '*' ? (path[index] ?? step) : step))
}

/** Brings the conditions of the form spec and of the schema (`x-visible-when`) together. */
export function visibility(schema: unknown, fields: readonly FieldSpec[]): Visibility {
  const bySpec = fields.flatMap(({ path, showWhen }) =>
    showWhen ? [{ pattern: steps(path), condition: showWhen }] : [],
  )
  const inSchema = JSON.stringify(schema ?? null).includes('"x-visible-when"')
  if (bySpec.length === 0 && !inSchema) return always
  return (path, value) => {
    for (let depth = 1; depth <= path.length; depth++) {
      const here = path.slice(0, depth)
      const told = bySpec.filter(({ pattern }) => matches(pattern, here))
      if (!told.every(({ condition }) => holds(condition, here, value))) return false
      if (!inSchema) continue
      const own = schemasAt(schema, here).flatMap((layer) => ownConditions(layer['x-visible-when']))
      if (!own.every((condition) => holds(condition, here, value))) return false
    }
    return true
  }
}

export function matches(pattern: readonly string[], path: readonly Step[]): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((step, index) => step === '*' || step === String(path[index]))
  )
}

/** Everything that the schema says about a place. */
export function schemasAt(schema: unknown, path: readonly Step[]): Json[] {
  let all = layers(schema, [schema], true)
  for (const step of path) {
    const index = Number(step)
    const isItem = typeof step === 'number' || (/^\d+$/.test(step) && !names(all).includes(step))
    const below = isItem ? item(all, index) : []
    all = layers(schema, below.length > 0 ? below : member(all, String(step)), true)
  }
  return all
}

/** `{ path, equals }`, a list of such, or in short `{ "mode": "slow" }` about a neighbour. */
function ownConditions(from: unknown): Condition[] {
  if (Array.isArray(from)) return from.flatMap(ownConditions)
  if (!isJson(from)) return []
  const told = readCondition(from)
  if (told) return [told]
  return Object.entries(from).map(([path, value]) =>
    Array.isArray(value) ? { path, is: 'in', value } : { path, is: 'equals', value },
  )
}
