import { stringify } from '~/api/exact'
import { isJson, type Json, own } from '../schema/json'
import { resolve } from '../schema/layers'
import { at, pointer, steps } from '../schema/pointer'
import type { Miss } from './checker'

/** What is wrong at one place: a sentence of the texts, and what is put into it. */
export interface Complaint {
  path: string
  key: string
  params?: Json
}

/** That some part below does not fit. The parts speak for themselves. */
const FRAMES = new Set([
  '$ref',
  'allOf',
  'if',
  'properties',
  'patternProperties',
  'additionalProperties',
  'items',
  'prefixItems',
  'dependentSchemas',
  'unevaluatedItems',
  'dependencies',
])

/** Says what is wrong with a value, each thing once and at its own place. */
export function complaints(misses: readonly Miss[], schema: unknown, value: unknown): Complaint[] {
  const said = new Saying(schema, value).all(misses)
  const seen = new Set<string>()
  return said.filter((complaint) => {
    const id = JSON.stringify(complaint)
    return !seen.has(id) && seen.add(id)
  })
}

class Saying {
  constructor(
    private readonly schema: unknown,
    private readonly value: unknown,
  ) {}

  all(misses: readonly Miss[]): Complaint[] {
    const out: Complaint[] = []
    const unknown: Complaint[] = []
    for (let index = 0; index < misses.length; index++) {
      const miss = misses[index] as Miss
      const group = groupOf(misses, index)
      if (miss.keyword === 'anyOf' || miss.keyword === 'oneOf') {
        out.push(...this.choice(miss, group))
        index += group.length
      } else if (miss.keyword === 'unevaluatedProperties') {
        // Where something else is wrong, nothing in the object counts as looked at.
        unknown.push(...this.all(group.filter(({ keyword }) => keyword === 'false')))
        index += group.length
      } else if (miss.keyword === 'contains' || miss.keyword.endsWith('Contains')) {
        out.push(this.plain(miss))
        index += group.length
      } else if (miss.keyword === 'propertyNames') {
        out.push({ path: place(miss), key: 'name', params: {} })
        index += group.length
      } else if (!FRAMES.has(miss.keyword) && !this.isRounding(miss)) {
        out.push(...this.one(miss))
      }
    }
    return out.length > 0 ? out : unknown
  }

  private one(miss: Miss): Complaint[] {
    const at = place(miss)
    if (miss.keyword === 'required') {
      const name = quoted(miss.error)
      return [{ path: at + pointer([name]), key: 'required' }]
    }
    if (miss.keyword === 'dependentRequired') {
      const name = / but does not have "([^]*)"\.$/.exec(miss.error)?.[1] ?? ''
      return [{ path: at + pointer([name]), key: 'required' }]
    }
    return [this.plain(miss)]
  }

  /** Whether only the rounding of a large number made it miss. */
  private isRounding(miss: Miss): boolean {
    const found = this.found(place(miss))
    if (miss.keyword === 'uniqueItems' && Array.isArray(found)) {
      return new Set(found.map((entry) => stringify(entry))).size === found.length
    }
    return typeof found === 'bigint' && meetsExactly(miss.keyword, found, this.wanted(miss))
  }

  private plain(miss: Miss): Complaint {
    const path = place(miss)
    const wanted = this.wanted(miss)
    const found = this.found(path)
    // An item that was left empty is sent as null.
    if (found === null && /\/\d+$/.test(path)) return { path, key: 'required' }
    switch (miss.keyword) {
      case 'type':
        return { path, ...typed(wanted, found) }
      case 'enum':
        return { path, key: 'enum' }
      case 'const':
        return { path, key: 'const', params: { value: shown(wanted) } }
      case 'minimum':
      case 'maximum':
      case 'exclusiveMinimum':
      case 'exclusiveMaximum':
      case 'multipleOf':
        return { path, key: miss.keyword, params: { limit: wanted } }
      case 'minLength':
        return found === '' ? { path, key: 'required' } : counted(path, miss, wanted)
      case 'minItems':
      case 'maxItems':
      case 'maxLength':
      case 'minProperties':
      case 'maxProperties':
        return counted(path, miss, wanted)
      case 'format':
        return { path, key: `format.${formatWord(wanted)}`, params: { format: shown(wanted) } }
      case 'pattern':
        return blank(found)
          ? { path, key: 'required' }
          : { path, key: 'pattern', params: { pattern: shown(wanted) } }
      case 'tooLarge':
      case 'uniqueItems':
      case 'not':
      case 'false':
        return { path, key: miss.keyword }
      case 'contains':
      case 'minContains':
      case 'maxContains':
        return { path, key: 'contains' }
      default:
        return { path, key: 'form' }
    }
  }

  /** Of several forms mostly one was meant; the others are out by their type or by a constant. */
  private choice(miss: Miss, group: readonly Miss[]): Complaint[] {
    const at = place(miss)
    if (/\((?:[2-9]|\d\d+) matches\)/.test(miss.error)) return [{ path: at, key: 'several' }]
    const branches = new Map<string, Miss[]>()
    let last = ''
    for (const inner of group) {
      const number = inner.keyword === 'false' ? last : branchOf(miss, inner)
      last = number
      branches.set(number, [...(branches.get(number) ?? []), inner])
    }
    const all = [...branches.values()]
    const otherType = (inner: Miss) =>
      (inner.keyword === 'type' || inner.keyword === 'false') && place(inner) === at
    const otherVariant = (inner: Miss) =>
      inner.keyword === 'const' || (inner.keyword === 'enum' && place(inner) === at)
    const meant =
      only(all, otherType) ?? only(all, (inner) => otherType(inner) || otherVariant(inner))
    if (meant) return this.all(meant)
    const types = all.flatMap((branch) => (branch.length === 1 ? branch : [])).filter(otherType)
    if (types.length === all.length) {
      const wanted = types.flatMap((inner) => this.wanted(inner))
      return [{ path: at, ...typed(wanted, this.found(at)) }]
    }
    const simple = all.every(
      (branch) =>
        branch.length === 1 && branch.every((inner) => otherVariant(inner) && place(inner) === at),
    )
    return [{ path: at, key: simple ? 'enum' : 'form' }]
  }

  private found(path: string): unknown {
    return at(this.value, steps(path))
  }

  /** What the schema says at the keyword that was missed. The way there leads through references. */
  private wanted(miss: Miss): unknown {
    let here = this.schema
    for (const step of steps(miss.keywordLocation.replace(/^#/, ''))) {
      if (step === '$ref' && isJson(here) && typeof here.$ref === 'string') {
        here = resolve(this.schema, here.$ref)
      } else if (Array.isArray(here)) here = here[Number(step)]
      else here = isJson(here) ? own(here, step) : undefined
    }
    return here
  }
}

/** The misses that belong to the one at an index: those of the parts of its keyword. */
function groupOf(misses: readonly Miss[], index: number): Miss[] {
  const head = misses[index] as Miss
  let end = index + 1
  while (end < misses.length) {
    const next = misses[end] as Miss
    const inside = next.keywordLocation.startsWith(`${head.keywordLocation}/`)
    // What is forbidden altogether is told without the keyword that forbids it.
    const forbidden = next.keyword === 'false' && place(next).startsWith(place(head))
    if (!inside && !forbidden) break
    end++
  }
  return misses.slice(index + 1, end)
}

function branchOf(miss: Miss, inner: Miss): string {
  return inner.keywordLocation.slice(miss.keywordLocation.length + 1).split('/')[0] ?? ''
}

function only(branches: Miss[][], isOut: (miss: Miss) => boolean): Miss[] | undefined {
  const left = branches.filter((branch) => !branch.some(isOut))
  return left.length === 1 ? left[0] : undefined
}

function place(miss: Miss): string {
  return miss.instanceLocation.replace(/^#/, '')
}

function quoted(error: string): string {
  return /"([^]*)"/.exec(error)?.[1] ?? ''
}

function typed(wanted: unknown, found: unknown): { key: string; params?: Json } {
  const types = [...new Set(Array.isArray(wanted) ? wanted : [wanted])].filter(
    (name) => name !== 'null',
  )
  const numeric = types.every((name) => name === 'number' || name === 'integer')
  if (numeric && typeof found === 'string') {
    if (/^[+-]?\d{1,3}[.,]\d{3}$/.test(found)) return { key: 'ambiguous', params: either(found) }
    if (/^[+-]?[\d.,]*\d[.,]\d/.test(found)) return { key: 'marks' }
  }
  if (types.length !== 1) return { key: 'type.any' }
  return { key: `type.${String(types[0])}` }
}

/** What a number with one sign before three digits may mean, each in a spelling that leaves no doubt. */
function either(text: string): Json {
  const other = text.includes(',') ? text.replace(',', '.') : text.replace('.', ',')
  return { whole: text.replace(/[.,]/, ''), fraction: other }
}

function meetsExactly(keyword: string, value: bigint, limit: unknown): boolean {
  if (typeof limit !== 'number' && typeof limit !== 'bigint') return false
  switch (keyword) {
    case 'minimum':
      return value >= limit
    case 'maximum':
      return value <= limit
    case 'exclusiveMinimum':
      return value > limit
    case 'exclusiveMaximum':
      return value < limit
    case 'multipleOf':
      // Parts of a whole are left to the server.
      return !Number.isInteger(Number(limit)) || value % BigInt(limit) === 0n
    default:
      return false
  }
}

function counted(path: string, miss: Miss, limit: unknown): Complaint {
  return { path, key: miss.keyword, params: { count: Number(limit) } }
}

function blank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}

const FORMATS = [
  'date',
  'date-time',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uuid',
  'regex',
]

function formatWord(format: unknown): string {
  return FORMATS.find((name) => name === format) ?? (format === 'iri' ? 'uri' : 'other')
}

function shown(value: unknown): string {
  const words = typeof value === 'string' ? value : stringify(value)
  return words.length > 80 ? `${words.slice(0, 80)}…` : words
}
