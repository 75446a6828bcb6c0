import { parse, stringify } from '~/api/exact'
import { isJson } from '~/features/form/schema/json'

/** A name and what it stands for, as it is typed. Names can be missing or double for a while. */
export interface Pair {
  name: string
  value: unknown
}

export function pairsOf(members: unknown): Pair[] {
  return isJson(members) ? Object.entries(members).map(([name, value]) => ({ name, value })) : []
}

/** The object that pairs make. A row without a name does not count; of two with one name the first does. */
export function objectOf(pairs: readonly Pair[]): Record<string, unknown> | undefined {
  const members = new Map<string, unknown>()
  for (const { name, value } of pairs) {
    if (name !== '' && !members.has(name)) members.set(name, value)
  }
  return members.size > 0 ? Object.fromEntries(members) : undefined
}

/** What is wrong with the names: the first of two is right. */
export function faultOfPair(
  pairs: readonly Pair[],
  index: number,
): 'missing' | 'double' | undefined {
  const pair = pairs[index]
  if (!pair) return undefined
  if (pair.name === '') return pair.value === '' ? undefined : 'missing'
  const first = pairs.findIndex(({ name }) => name === pair.name)
  return first < index ? 'double' : undefined
}

/** What is wrong with the names of any row: such rows cannot be sent as they stand. */
export function faultOfPairs(pairs: readonly Pair[]): 'missing' | 'double' | undefined {
  return pairs.map((_, index) => faultOfPair(pairs, index)).find((fault) => fault !== undefined)
}

/** How a header says a credential: some kinds need a word in front. */
export function referenceTo({ label, type }: { label: string; type: string }): string {
  const scheme = { basic: 'Basic ', bearer: 'Bearer ' }[type] ?? ''
  return `${scheme}secret:${label}`
}

/** A value as it stands in a field for text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (stringify(value) ?? '')
}

/** What was typed. What was a number or a list before stays one as long as it reads like one. */
export function valueOf(text: string, before: unknown): unknown {
  if (typeof before === 'string' || before === undefined) return text
  try {
    const value = parse(text)
    return typeof value === 'string' ? text : value
  } catch {
    return text
  }
}
