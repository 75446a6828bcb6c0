import { copy, isJson, type Json, list, own } from './json'
import { item, layers, member, names, required } from './layers'

/** How deep required parts are begun for a person. What refers to itself would never end. */
const DEEP_MAX = 12
/** How many empty items a list starts with at most. */
const ITEMS_MAX = 10

/**
 * Puts in what a form starts with: the defaults, as the server would; constants; and the required
 * objects and first items, empty. Whether something is so is for a person to say, so no `false` is put
 * in for them; an item of a list that they have added is one that is off.
 * An optional object that is not there stays away: it may ask for much once it is there.
 */
export function filled(schema: unknown, value: unknown): unknown {
  return fill(schema, [schema], value, true, DEEP_MAX)
}

/** The same for what a change has added. What was there before stays, also where somebody emptied it. */
export function filledWhereNew(schema: unknown, next: unknown, before: unknown): unknown {
  return fillNew(schema, [schema], next, before, DEEP_MAX)
}

/** What a new part of this form starts with. */
export function start(root: unknown, schema: unknown): unknown {
  return fill(root, [schema], undefined, true, DEEP_MAX)
}

function fill(
  root: unknown,
  place: unknown[],
  given: unknown,
  needed: boolean,
  deep: number,
): unknown {
  const all = layers(root, place)
  const value = given === undefined ? begin(all, needed) : given
  if (deep === 0) return value
  if (isJson(value)) return fillObject(root, withChoice(root, all, value), value, deep)
  if (Array.isArray(value)) {
    const items = given === undefined ? withFirstItems(all, value) : value
    return items.map((entry, index) => fillItem(root, item(all, index), entry, deep - 1))
  }
  return value
}

function fillItem(root: unknown, place: unknown[], given: unknown, deep: number): unknown {
  const value = fill(root, place, given, true, deep)
  return value === undefined && isYesNo(layers(root, place)) ? false : value
}

/** What a place holds that holds nothing yet. */
function begin(all: Json[], needed: boolean): unknown {
  const holder = all.find((layer) => layer.default !== undefined)
  if (holder) return copy(holder.default)
  if (!needed) return undefined
  const fixed = all.find((layer) => layer.const !== undefined)
  if (fixed) return copy(fixed.const)
  if (all.some(isNullable)) return null
  const type = all.find((layer) => layer.type !== undefined)?.type
  if (type === 'array') return []
  const objectLike = all.some((layer) => isJson(layer.properties))
  if (type === 'object' || (type === undefined && objectLike)) return {}
  if (type === undefined) return beginChoice(all)
  return undefined
}

function isYesNo(all: Json[]): boolean {
  const type = all.find((layer) => layer.type !== undefined)?.type
  return type === 'boolean' && !all.some((layer) => Array.isArray(layer.enum))
}

/** Whether nothing is an answer. */
function isNullable({ type, anyOf, oneOf }: Json): boolean {
  const branches = [...list(anyOf), ...list(oneOf)]
  return (
    list(type).includes('null') ||
    branches.some((branch) => isJson(branch) && branch.type === 'null')
  )
}

/** A choice between objects starts with the first of them. */
function beginChoice(all: Json[]): unknown {
  const branches = all.flatMap((layer) => [...list(layer.oneOf), ...list(layer.anyOf)])
  const first = branches[0]
  return isJson(first) && (first.type === 'object' || isJson(first.properties)) ? {} : undefined
}

function withFirstItems(all: Json[], value: unknown[]): unknown[] {
  const wanted = Math.max(0, ...all.map((layer) => Number(layer.minItems ?? 0)))
  const missing = Math.min(wanted, ITEMS_MAX) - value.length
  return missing > 0 ? [...value, ...Array.from({ length: missing }, () => undefined)] : value
}

/** The layers of an object with those of the branch that its constants speak for, or else the first. */
function withChoice(root: unknown, all: Json[], value: Json): Json[] {
  const chosen = all.flatMap((layer) => {
    const branches = [...list(layer.oneOf), ...list(layer.anyOf)]
    const branch = branches.find((entry) => speaksFor(layers(root, [entry]), value)) ?? branches[0]
    return branch === undefined ? [] : [branch]
  })
  return [...all, ...layers(root, chosen)]
}

function speaksFor(all: Json[], value: Json): boolean {
  let found = false
  for (const name of names(all)) {
    const fixed = member(all, name).find((schema) => isJson(schema) && schema.const !== undefined)
    const given = own(value, name)
    if (!isJson(fixed) || given === undefined) continue
    if (fixed.const !== given) return false
    found = true
  }
  return found
}

function fillObject(root: unknown, all: Json[], value: Json, deep: number): Json {
  const wanted = required(all)
  const given = Object.entries(value).map(([name, entry]) => [
    name,
    entry === undefined ? entry : fill(root, member(all, name), entry, true, deep - 1),
  ])
  const begun = names(all)
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => [name, fill(root, member(all, name), undefined, wanted.has(name), deep - 1)])
    .filter(([, entry]) => entry !== undefined)
  return Object.fromEntries([...given, ...begun])
}

function fillNew(
  root: unknown,
  place: unknown[],
  next: unknown,
  before: unknown,
  deep: number,
): unknown {
  if (next === before || deep === 0) return next
  if (isJson(next)) {
    if (!isJson(before)) return fill(root, place, next, true, deep)
    const all = layers(root, place, true)
    return Object.fromEntries(
      Object.entries(next).map(([name, value]) => [
        name,
        fillNew(root, member(all, name), value, own(before, name), deep - 1),
      ]),
    )
  }
  if (Array.isArray(next)) {
    const all = layers(root, place, true)
    const old = list(before)
    return next.map((value, index) =>
      index < old.length
        ? fillNew(root, item(all, index), value, old[index], deep - 1)
        : fillItem(root, item(all, index), value, deep - 1),
    )
  }
  return next
}
