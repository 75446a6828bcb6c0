import { isJson, own } from './json'

export type Step = string | number

/** The steps of a JSON pointer. */
export function steps(pointer: string): string[] {
  if (pointer === '') return []
  return pointer
    .replace(/^\//, '')
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export function pointer(path: readonly Step[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** What stands at a place, or undefined where there is no such place. */
export function at(value: unknown, path: readonly Step[]): unknown {
  let here = value
  for (const step of path) {
    if (Array.isArray(here)) here = here[Number(step)]
    else here = isJson(here) ? own(here, String(step)) : undefined
  }
  return here
}

/** A value with something else at a place. What is missing on the way there is made. */
export function written(value: unknown, path: readonly Step[], entry: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return entry
  if (Array.isArray(value) || typeof step === 'number') {
    const next = Array.isArray(value) ? [...value] : []
    next[Number(step)] = written(next[Number(step)], rest, entry)
    return next
  }
  const next = isJson(value) ? value : {}
  return { ...next, [step]: written(own(next, step), rest, entry) }
}
