import { isJson, type Json } from '../schema/json'

/**
 * Lays the parts of `allOf` over one another, to draw them. It never gives up: what contradicts
 * itself is found by the check, not by the drawing.
 */
export function mergeAllOf(schema: Json): Json {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf)) return schema
  return allOf.filter(isJson).map(mergeAllOf).reduce(merged, rest)
}

function merged(left: Json, right: Json): Json {
  const out: Json = { ...left }
  for (const [name, value] of Object.entries(right)) {
    const mine = out[name]
    if (mine === undefined) out[name] = value
    else if (name === 'required' && Array.isArray(mine) && Array.isArray(value)) {
      out[name] = [...new Set([...mine, ...value])]
    } else if (name === 'properties' && isJson(mine) && isJson(value)) {
      out[name] = mergedProperties(mine, value)
    } else if (name === 'items' && isJson(mine) && isJson(value)) {
      out[name] = merged(mine, value)
    }
  }
  return out
}

function mergedProperties(left: Json, right: Json): Json {
  const out: Json = { ...left }
  for (const [name, value] of Object.entries(right)) {
    const mine = out[name]
    out[name] = isJson(mine) && isJson(value) ? merged(mine, value) : value
  }
  return out
}
