import type { ToolItem } from './library-queries'

/** What the search looks at. */
export type Named = Pick<ToolItem, 'slug' | 'name' | 'description' | 'tags'>

interface Index {
  slug: string
  name: string
  /** Slug and name. */
  title: Text
  all: Text
}

class Text {
  readonly text: string
  private split?: string[]

  constructor(...parts: string[]) {
    this.text = parts.join('\n').toLowerCase()
  }

  get words(): string[] {
    this.split ??= [...new Set(this.text.split(/[^\p{L}\p{N}]+/u))]
    return this.split
  }
}

/** Shorter words are near too many others. */
const TYPO_LETTERS = 4

const indexes = new WeakMap<Named, Index>()
let last: { tools: Named[]; q: string; found: Map<Named, number> } | undefined

/**
 * The tools that every word of a query speaks of, each with its rank: 0 is the tool of that very name,
 * then come names that begin so, names with these words, and the rest. A word that no tool has is taken
 * for a typing error of one that is a letter away.
 */
export function search(tools: Named[], q: string): Map<Named, number> {
  if (last?.tools === tools && last.q === q) return last.found
  const query = q.trim().toLowerCase()
  const words = query.split(/\s+/)
  const all = tools.map((tool) => [tool, indexOf(tool)] as const)
  const has = words.map((word) => {
    const isKnown = all.some(([, index]) => index.all.text.includes(word))
    if (isKnown || word.length < TYPO_LETTERS) return (text: Text) => text.text.includes(word)
    return (text: Text) => text.words.some((other) => isNear(word, other))
  })
  const found = new Map<Named, number>()
  for (const [tool, index] of all) {
    if (has.every((inside) => inside(index.all))) found.set(tool, rank(index, query, has))
  }
  last = { tools, q, found }
  return found
}

function rank({ slug, name, title }: Index, query: string, has: ((text: Text) => boolean)[]) {
  if (slug === query || name === query) return 0
  if (name.startsWith(query) || slug.startsWith(query)) return 1
  return has.every((inside) => inside(title)) ? 2 : 3
}

function indexOf(tool: Named): Index {
  const known = indexes.get(tool)
  if (known) return known
  const { slug, name, description, tags } = tool
  const index = {
    slug: slug.toLowerCase(),
    name: name.toLowerCase(),
    title: new Text(slug, name),
    all: new Text(slug, name, description, ...tags),
  }
  indexes.set(tool, index)
  return index
}

/** Whether a word is one edit away from another, or from its beginning: it may not be typed out yet. */
export function isNear(word: string, other: string): boolean {
  return [-1, 0, 1].some((more) => isOneEdit(word, other.slice(0, word.length + more)))
}

/** Whether one letter too many, too few, another one or two in the wrong order make the difference. */
function isOneEdit(left: string, right: string): boolean {
  const shorter = Math.min(left.length, right.length)
  if (Math.max(left.length, right.length) - shorter > 1) return false
  let start = 0
  while (start < shorter && left[start] === right[start]) start++
  let end = 0
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end++
  const [mine, yours] = [
    left.slice(start, left.length - end),
    right.slice(start, right.length - end),
  ]
  if (mine.length <= 1) return yours.length <= 1
  return mine.length === 2 && mine === `${yours[1]}${yours[0]}`
}
