import type { Fault } from '~/api/problem'
import { isJson, own } from '~/features/form/schema/json'
import { pointer, type Step } from '~/features/form/schema/pointer'
import type { Schema } from '../schema/kinds'
import { BLANK, type Definition } from './definition'
import type { Pair } from './kinds/pairs'

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

/** What was typed and cannot stand in a definition like that, as it was typed. */
export interface Unread {
  /** What is wrong with it, as the server would say it. */
  why: string
  text?: string
  rows?: Pair[]
}

/** Things by their place, without those at a place and inside of it. */
export function withoutBelow<T>(things: Record<string, T>, place: string): Record<string, T> {
  return Object.fromEntries(Object.entries(things).filter(([path]) => !isBelow(path, place)))
}

/** Things by their place, without those of a kind of tool, and these. */
export function apart<T>(
  things: Record<string, T>,
): [rest: Record<string, T>, kind: Record<string, T>] {
  const rest = withoutBelow(withoutBelow(things, '/implementation'), '/execution_spec')
  const ofKind = Object.entries(things).filter(([path]) => !Object.hasOwn(rest, path))
  return [rest, Object.fromEntries(ofKind)]
}

/**
 * Things by their place, after the entries of a list have changed their order. `order` has for each new entry
 * the number that it had before.
 */
export function reordered<T>(
  things: Record<string, T>,
  list: string,
  order: readonly number[],
): Record<string, T> {
  const next = withoutBelow(things, list)
  for (const [path, thing] of Object.entries(things)) {
    if (!isBelow(path, list)) continue
    const [number, ...rest] = path.slice(list.length + 1).split('/')
    const now = order.indexOf(Number(number))
    if (now >= 0) next[[list, now, ...rest].join('/')] = thing
  }
  return next
}

/** What only one kind of tool has. */
export interface KindParts {
  implementation: Schema
  execution_spec: Schema | null
}

const LONG_MS = 24 * 60 * 60 * 1_000

/** Kinds of tools that somebody outside answers. */
export function isAnswered(kind: string): boolean {
  return kind === 'external' || kind === 'space'
}

/**
 * How long a tool may take once it is of another kind. Whoever is asked needs longer than the half minute that does for
 * a machine. A time that somebody chose stays.
 */
export function timeoutFor(kind: string, now: number | null, before: number | null): number | null {
  if (isAnswered(kind)) return now === BLANK.timeout_ms ? LONG_MS : now
  return now === LONG_MS && before !== LONG_MS ? BLANK.timeout_ms : now
}

/** A tool of a kind before anybody has said anything about it. */
export function blankOf(kind: string): Definition {
  const timeout_ms = timeoutFor(kind, BLANK.timeout_ms, BLANK.timeout_ms)
  return { ...BLANK, implementation_type: kind, timeout_ms, ...partsOfKind(kind, BLANK) }
}

const SCRIPT = {
  language: 'javascript',
  source: 'export default async (input, ctx) => {\n  return input\n}\n',
}

/** What `execution_spec` starts with, for the kinds that have one. */
const SPECS: Record<string, Schema> = {
  composition: { kind: 'composition', steps: [] },
  prompt: { kind: 'prompt', mode: 'direct', output: 'text' },
}

/** Whether `execution_spec` says what a tool of this kind does. */
export function hasSpec(kind: string): boolean {
  return Object.hasOwn(SPECS, kind)
}

/** What a tool of a kind starts with: what it was, if it was of that kind. */
export function partsOfKind(kind: string, before: Definition): KindParts {
  const { implementation_type, implementation, execution_spec } = before
  if (kind === implementation_type) return { implementation, execution_spec }
  return { implementation: kind === 'artifact' ? SCRIPT : {}, execution_spec: SPECS[kind] ?? null }
}
