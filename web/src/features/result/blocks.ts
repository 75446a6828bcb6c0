import { Hints } from './hints'
import { find, isObject, type Json, type JsonObject, steps } from './json'
import { humanise, label } from './words'

export const KINDS = [
  'summary',
  'table',
  'chart',
  'radar',
  'ranking',
  'markdown',
  'json',
  'custom',
] as const
export type Kind = (typeof KINDS)[number]

/** One part of an output, and how to show it. */
export interface Block {
  kind: Kind
  label: string
  value: Json
  config: JsonObject
  hints: Hints
}

/** What of a tool decides how its outputs are shown, as `GET /api/tools/{slug}` answers. */
export interface Shown {
  slug?: string
  i18n?: unknown
  output_schema?: unknown
  output_sections?: unknown
  view_spec?: unknown
}

/**
 * The parts in which a tool wants its output shown: by its view, else by its sections. Nothing when
 * it wants none, or when none of them is in this output.
 */
export function blocks(tool: Shown | undefined, output: unknown): Block[] {
  const hints = new Hints(tool?.output_schema)
  const view = isObject(tool?.view_spec) ? tool.view_spec.blocks : undefined
  const wanted = Array.isArray(view) ? view : tool?.output_sections
  if (!Array.isArray(wanted)) return []
  return wanted.filter(isObject).flatMap((part) => block(part, output, hints) ?? [])
}

function block(part: JsonObject, output: unknown, hints: Hints): Block | undefined {
  const path = place(part)
  const value = path && find(output, path)
  const kind = KINDS.find((kind) => kind === part.type)
  // What a tool leaves out of this output has no section, rather than an empty one.
  if (!path || value === undefined || !kind) return undefined
  const below = hints.at(path)
  const named = typeof part.label === 'string' ? part.label : below.hint.title
  return {
    kind,
    label: named ?? humanise(path.at(-1) ?? ''),
    value: value as Json,
    config: isObject(part.config) ? part.config : {},
    hints: below,
  }
}

function place(part: JsonObject): string[] | undefined {
  if (typeof part.key === 'string') return [part.key]
  return typeof part.path === 'string' ? steps(part.path) : undefined
}

/** The currency that an output names beside its amounts. */
export function currencyOf(output: unknown): string | undefined {
  const currency = isObject(output) ? output.currency : undefined
  return typeof currency === 'string' ? currency : undefined
}

/**
 * What no section shows, each key as a part of its own; nobody would see it otherwise. A view leaves
 * out on purpose, and a currency is shown with every amount.
 */
export function rest(tool: Shown | undefined, output: unknown): Block[] {
  if (!isObject(output) || isObject(tool?.view_spec)) return []
  if (!Array.isArray(tool?.output_sections)) return []
  const shown = new Set(tool.output_sections.filter(isObject).map(({ key }) => key))
  const hints = new Hints(tool.output_schema)
  return Object.entries(output)
    .filter(([key]) => !shown.has(key) && key !== 'currency')
    .map(([key, value]) => {
      const below = hints.below(key)
      return { kind: 'custom', label: label(key, below.hint), value, config: {}, hints: below }
    })
}
