import { isJson, type Json, list, texts } from './json'
import { at, steps } from './pointer'

/** What a reference into the same document leads to. References elsewhere lead to nothing: nothing is fetched. */
export function resolve(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined
  let fragment: string
  try {
    fragment = decodeURIComponent(reference.slice(1))
  } catch {
    return undefined
  }
  if (fragment === '') return root
  if (fragment.startsWith('/')) return at(root, steps(fragment))
  return anchored(root, fragment)
}

function anchored(root: unknown, name: string): unknown {
  const open = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (isJson(value) && value.$anchor === name) return value
    if (typeof value === 'object' && value !== null) open.push(...Object.values(value))
  }
  return undefined
}

/** How many subschemas are looked at for one place. More than that nobody reads. */
const LAYERS_MAX = 500

/**
 * Every subschema that has a say at a place: the given ones, what they refer to, and the parts of
 * `allOf`. With `branches` also what only may have a say, by a choice or a condition.
 */
export function layers(root: unknown, place: readonly unknown[], branches = false): Json[] {
  const found = new Set<Json>()
  const open = [...place].reverse()
  while (open.length > 0 && found.size < LAYERS_MAX) {
    const schema = open.pop()
    if (!isJson(schema) || found.has(schema)) continue
    found.add(schema)
    const next: unknown[] = []
    const reference = schema.$ref ?? schema['x-lazy']
    if (typeof reference === 'string') next.push(resolve(root, reference))
    next.push(...list(schema.allOf))
    if (branches) {
      next.push(...list(schema.anyOf), ...list(schema.oneOf), schema.then, schema.else)
      if (isJson(schema.dependentSchemas)) next.push(...Object.values(schema.dependentSchemas))
    }
    open.push(...next.reverse())
  }
  return [...found]
}

/** What the layers of an object say about one of its members. */
export function member(all: readonly Json[], name: string): unknown[] {
  const own = all.flatMap(({ properties }) =>
    isJson(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [],
  )
  return own.length > 0
    ? own
    : all.map((layer) => layer.additionalProperties).filter((schema) => isJson(schema))
}

/** What the layers of an array say about one of its items. */
export function item(all: readonly Json[], index: number): unknown[] {
  return all.flatMap(({ prefixItems, items }) => {
    const numbered = list(prefixItems)
    if (index < numbered.length) return [numbered[index]]
    return items === undefined ? [] : [items]
  })
}

export function required(all: readonly Json[]): Set<string> {
  return new Set(all.flatMap((layer) => texts(layer.required)))
}

/** The names that the layers describe, in their order. */
export function names(all: readonly Json[]): string[] {
  return [
    ...new Set(
      all.flatMap(({ properties }) => (isJson(properties) ? Object.keys(properties) : [])),
    ),
  ]
}
