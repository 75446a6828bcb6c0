/** An object as JSON has it. Schemas are read as such: anybody may have written them. */
export type Json = Record<string, unknown>

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function texts(value: unknown): string[] {
  return list(value).filter((entry) => typeof entry === 'string')
}

/** A member of the object itself: one named `constructor` is there only if somebody wrote it. */
export function own(value: Json, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined
}

export function copy<T>(value: T): T {
  return value === undefined ? value : structuredClone(value)
}

/** Whether two values are the same JSON. A property that is undefined is not there. */
export function same(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => same(item, right[index]))
  }
  if (!isJson(left) || !isJson(right)) return false
  const names = (value: Json) => Object.keys(value).filter((name) => value[name] !== undefined)
  const mine = names(left)
  return (
    mine.length === names(right).length &&
    mine.every((name) => Object.hasOwn(right, name) && same(left[name], right[name]))
  )
}
