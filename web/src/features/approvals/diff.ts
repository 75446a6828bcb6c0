/** What differs at one place; `undefined` stands for nothing there. */
export interface Change {
  /** A JSON pointer. */
  path: string
  before: unknown
  after: unknown
}

type Container = Record<string, unknown> | unknown[]

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

/** What differs between two values, place by place, in the order of the first and then of the second. */
export function diff(before: unknown, after: unknown, path = ''): Change[] {
  if (Object.is(before, after)) return []
  const alike =
    isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)
  if (!alike) return [{ path, before, after }]
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => diff(own(before, key), own(after, key), `${path}/${step(key)}`))
}

function own(value: Container, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
}

function step(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
