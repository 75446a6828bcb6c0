import { isJson } from './json'
import { item, layers, member, required } from './layers'
import type { Step } from './pointer'

/** Whether a field is shown. What is not shown is not asked, and is not sent. */
export type Shown = (path: readonly Step[]) => boolean

const everything: Shown = () => true

/**
 * What is sent of what was typed: without fields that were left empty or are not shown, and without
 * optional objects and lists in which nothing is. An item that was left empty is null, so that its
 * place among the others stays and the check can point at it.
 */
export function cleaned(schema: unknown, value: unknown, shown: Shown = everything): unknown {
  return clean(schema, [schema], value, [], shown)
}

function clean(
  root: unknown,
  place: unknown[],
  value: unknown,
  path: Step[],
  shown: Shown,
): unknown {
  if (Array.isArray(value)) {
    const all = layers(root, place, true)
    return value.map((entry, index) => {
      const kept = clean(root, item(all, index), entry, [...path, index], shown)
      return kept === undefined ? null : kept
    })
  }
  if (!isJson(value)) return value
  const all = layers(root, place, true)
  const wanted = required(all)
  const sent = Object.entries(value).flatMap(([name, entry]) => {
    const here = [...path, name]
    if (entry === undefined || !shown(here)) return []
    const below = member(all, name)
    const kept = clean(root, below, entry, here, shown)
    return !isHollow(kept) || wanted.has(name) || isAnswer(root, below) ? [[name, kept]] : []
  })
  return Object.fromEntries(sent)
}

function isHollow(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isJson(value) && Object.keys(value).length === 0
}

/**
 * Whether empty is an answer of its own: the server would fill the place again, or somebody has added
 * an object that asks for something.
 */
function isAnswer(root: unknown, place: unknown[]): boolean {
  const all = layers(root, place)
  return all.some((layer) => layer.default !== undefined) || required(all).size > 0
}
