export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A list in which every entry is an object, and there is one. */
export function isRows(value: unknown): value is JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every(isObject)
}

/** The steps of a path: a JSON pointer in which `*` stands for every item of a list. */
export function steps(path: string): string[] {
  if (!path.startsWith('/')) return []
  return path
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** What a path leads to. Only the value's own keys count, so `constructor` leads nowhere. */
export function find(value: unknown, [step, ...rest]: string[]): unknown {
  if (step === undefined) return value
  if (Array.isArray(value)) {
    if (step === '*')
      return value.map((item) => find(item, rest)).filter((found) => found !== undefined)
    return /^\d+$/.test(step) ? find(value[Number(step)], rest) : undefined
  }
  return isObject(value) && Object.hasOwn(value, step) ? find(value[step], rest) : undefined
}

/** A value as rows: a list of objects as it is, other lists with one column, an object by its keys. */
export function toRows(value: Json): JsonObject[] | undefined {
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? item : { value: item }))
  if (!isObject(value)) return undefined
  return Object.entries(value).map(([name, inner]) => ({ name, value: inner }))
}
