import type { Fault } from '~/api/problem'
import { isJson, own } from '~/features/form/schema/json'
import { pointer, type Step } from '~/features/form/schema/pointer'
import type { Schema } from '../schema/kinds'
import type { Definition } from './definition'

/** The place of something inside of a part of a definition. */
export function pathOf(key: string, steps: readonly Step[]): string {
  return pointer([key, ...steps])
}

export function isBelow(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`)
}

/** What is wrong at a place and inside of it, in one text. */
export function faultsBelow(faults: Fault[], place: string): string | undefined {
  const found = faults.filter(({ path }) => isBelow(path, place))
  const told = found.map(({ path, message }) => {
    const below = path.slice(place.length)
    return below ? `${below}: ${message}` : message
  })
  return told.length > 0 ? told.join(' ') : undefined
}

/** A value with something else at a place; `undefined` takes a member or an entry out. */
export function putAt<T>(value: T, steps: readonly Step[], entry: unknown): T {
  return put(value, steps, entry) as T
}

function put(value: unknown, steps: readonly Step[], entry: unknown): unknown {
  const [step, ...rest] = steps
  if (step === undefined) return entry
  if (Array.isArray(value)) {
    const next = put(value[Number(step)], rest, entry)
    return next === undefined
      ? value.toSpliced(Number(step), 1)
      : value.toSpliced(Number(step), 1, next)
  }
  const members = isJson(value) ? value : {}
  const next = put(own(members, String(step)), rest, entry)
  if (next !== undefined) return { ...members, [step]: next }
  const { [step]: _, ...others } = members
  return others
}

/** Texts by their place, without those at a place and inside of it. */
export function withoutBelow<T>(texts: Record<string, T>, place: string): Record<string, T> {
  return Object.fromEntries(Object.entries(texts).filter(([path]) => !isBelow(path, place)))
}

/**
 * Texts by their place, after the entries of a list have changed their order. `order` has for each new entry
 * the number that it had before.
 */
export function reordered<T>(
  texts: Record<string, T>,
  list: string,
  order: readonly number[],
): Record<string, T> {
  const next = withoutBelow(texts, list)
  for (const [path, text] of Object.entries(texts)) {
    if (!isBelow(path, list)) continue
    const [number, ...rest] = path.slice(list.length + 1).split('/')
    const now = order.indexOf(Number(number))
    if (now >= 0) next[[list, now, ...rest].join('/')] = text
  }
  return next
}

/** What only one kind of tool has. */
export interface KindParts {
  implementation: Schema
  execution_spec: Schema | null
}

/** What a tool of a kind starts with: what it was, if it was of that kind. */
export function partsOfKind(kind: string, before: Definition): KindParts {
  const { implementation_type, implementation, execution_spec } = before
  if (kind === implementation_type) return { implementation, execution_spec }
  const spec = kind === 'composition' ? { kind: 'composition', steps: [] } : null
  return { implementation: {}, execution_spec: spec }
}
