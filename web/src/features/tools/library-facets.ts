import type { ToolItem } from './library-queries'
import { search as ranks } from './library-search'
import type { LibrarySearch } from './search'

export const FACETS = ['category', 'level', 'status', 'origin', 'tag'] as const
export type Facet = (typeof FACETS)[number]

/** What a tool that says nothing about its level is filed under. */
export const NO_LEVEL = 'none'

/** What the filters look at. */
type Filed = Pick<
  ToolItem,
  'slug' | 'name' | 'description' | 'category' | 'tags' | 'origin' | 'status' | 'permission_level'
>

const values: Record<Facet, (tool: Filed) => string[]> = {
  category: (tool) => (tool.category ? [tool.category] : []),
  level: (tool) => [tool.permission_level ?? NO_LEVEL],
  status: (tool) => [tool.status],
  origin: (tool) => [tool.origin],
  tag: (tool) => [...new Set(tool.tags)],
}

function fits(tool: Filed, search: LibrarySearch, but?: Facet): boolean {
  return FACETS.every((facet) => {
    const wanted = search[facet]
    return facet === but || wanted === undefined || values[facet](tool).includes(wanted)
  })
}

export function filtered<T extends Filed>(tools: T[], search: LibrarySearch): T[] {
  const said = search.q ? ranks(tools, search.q) : undefined
  return tools.filter((tool) => (said?.has(tool) ?? true) && fits(tool, search))
}

export interface Choice {
  value: string
  count: number
}

/**
 * How many tools each choice of a facet would leave, given all the other filters. What is chosen is
 * always among the choices, or nobody could take it back.
 */
export function choices(tools: Filed[], search: LibrarySearch, facet: Facet): Choice[] {
  const said = search.q ? ranks(tools, search.q) : undefined
  const counts = new Map<string, number>()
  for (const tool of tools) {
    if (said?.has(tool) === false || !fits(tool, search, facet)) continue
    for (const value of values[facet](tool)) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  const chosen = search[facet]
  if (chosen !== undefined && !counts.has(chosen)) counts.set(chosen, 0)
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || a.value.localeCompare(b.value))
}

export function byName<T extends { name: string; slug: string }>(tools: T[]): T[] {
  const { compare } = new Intl.Collator(undefined, { numeric: true })
  return tools.toSorted((a, b) => compare(a.name, b.name) || compare(a.slug, b.slug))
}

/** Puts first what a query means most likely; what it means alike keeps its order. */
export function bestFirst<T extends Filed>(found: T[], tools: T[], q: string): T[] {
  const said = ranks(tools, q)
  return found.toSorted((a, b) => (said.get(a) ?? 0) - (said.get(b) ?? 0))
}

/** Puts what was used last first; the rest keeps its order. */
export function recentFirst<T extends { slug: string }>(tools: T[], lastUsed: string[]): T[] {
  const place = new Map<string, number>()
  for (const slug of lastUsed) if (!place.has(slug)) place.set(slug, place.size)
  const of = (tool: T) => place.get(tool.slug) ?? place.size
  return tools.toSorted((a, b) => of(a) - of(b))
}
