import { isJson } from '~/features/form/schema/json'
import type { Step } from '~/features/form/schema/pointer'
import type { CredentialType } from '../../../credentials/payload'
import type { Schema } from '../../../schema/kinds'
import { putAt } from '../../inside'
import { expressionOf } from '../steps'
import { type CurlRequest, decoded } from './parse'
import { asTyped, hasVariable, VARIABLE } from './shell'

export type Place = 'path' | 'query' | 'headers' | 'body'

/** A value of a request that can become an input of the tool. */
export interface Leaf {
  id: string
  place: Place
  at: Step[]
  /** How it is called where it stands. */
  shown: string
  /** The name of the input that is proposed. */
  name: string
  schema: Schema
  example: unknown
  /** Whether its value is not known, so that it can be nothing but an input. */
  isOpen: boolean
}

/** A value of a request that is secret. Nobody but the vault is told it. */
export interface Secret {
  id: string
  place: Exclude<Place, 'path'>
  at: Step[]
  shown: string
  type: CredentialType
  /** What goes into a credential; none where only the shell knew it. */
  payload?: Record<string, string>
  /** What stands before it, such as `Bearer `. */
  scheme: string
}

export interface Proposal {
  request: CurlRequest
  leaves: Leaf[]
  secrets: Secret[]
}

const SECRET_HEADER = /authorization|cookie|token|secret|password|api-?key|session|signature/i
const SECRET_NAME =
  /^(.*[-_.])?(api[-_]?key|apikey|app_?id|key|token|access[-_]?token|secret|client[-_]?secret|password|passwd|pwd|sig|signature|auth)$/i

/** What of a request can become inputs, and what has to become credentials. */
export function proposalOf(request: CurlRequest): Proposal {
  const secrets: Secret[] = []
  const leaves: Leaf[] = []
  const taken = new Set<string>()
  const add = (place: Place, at: Step[], shown: string, wanted: string, value: unknown) => {
    const open = typeof value === 'string' ? VARIABLE.exec(value)?.[1] : undefined
    const name = freeName(open ?? wanted, taken)
    taken.add(name)
    const isOpen = open !== undefined || (place === 'path' && /^[{:]/.test(String(value)))
    const schema = isOpen ? { type: 'string' } : schemaOf(value, place === 'body')
    const example = isOpen ? undefined : castTo(schema, value)
    leaves.push({ id: `${place}/${at.join('/')}`, place, at, shown, name, schema, example, isOpen })
  }
  const hide = (place: Secret['place'], at: Step[], shown: string, value: string) =>
    secrets.push({
      id: `${place}/${at.join('/')}`,
      place,
      at,
      shown,
      ...credentialOf(shown, value),
    })

  request.path.forEach((segment, index) => {
    if (segment === '') return
    const plain = decoded(segment)
    const name = /^(?:\{(\w+)\}|:(\w+))$/.exec(plain)
    const before = request.path[index - 1] ?? ''
    add('path', [index], `/${asTyped(plain)}`, name?.[1] ?? name?.[2] ?? nameAfter(before), plain)
  })
  for (const [name, value] of Object.entries(grouped(request.query))) {
    if (SECRET_NAME.test(name) && typeof value === 'string') hide('query', [name], name, value)
    else add('query', [name], name, name, value)
  }
  for (const [name, value] of request.headers) {
    if (SECRET_HEADER.test(name)) hide('headers', [name], name, value)
    else if (hasVariable(value)) add('headers', [name], name, name, value)
  }
  if (request.user !== undefined)
    hide('headers', ['Authorization'], 'Authorization', `Basic ${btoaOf(request.user)}`)
  for (const [at, value] of leavesOf(valueOfBody(request))) {
    const name = String(at.findLast((step) => typeof step === 'string') ?? 'body')
    if (SECRET_NAME.test(name) && typeof value === 'string') hide('body', at, at.join('.'), value)
    else add('body', at, at.join('.') || 'body', name, value)
  }
  return { request, leaves, secrets }
}

/** The inputs that somebody ticked, by the id of the value, and what stands for each secret. */
export interface Chosen {
  inputs: Map<string, string>
  references: Map<string, string | undefined>
}

export interface Made {
  implementation: Schema
  fields: { name: string; schema: Schema }[]
}

/** The settings of an HTTP tool that makes the request. */
export function madeOf(
  { request, leaves, secrets }: Proposal,
  { inputs, references }: Chosen,
): Made {
  const path = [...request.path]
  let query: Record<string, unknown> = grouped(request.query)
  let headers: Record<string, unknown> = Object.fromEntries(request.headers)
  let body = valueOfBody(request)
  const write = (place: Place, at: Step[], value: unknown) => {
    if (place === 'path') path[Number(at[0])] = String(value)
    else if (place === 'query') query = putAt(query, at, value)
    else if (place === 'headers') headers = putAt(headers, at, value)
    else body = at.length === 0 ? value : putAt(body, at, value)
  }
  const fields: Made['fields'] = []
  for (const { id, place, at, schema, example } of leaves) {
    const name = inputs.get(id)
    if (name === undefined) continue
    const written = wholeOr(placeValue(request, place, at), expressionOf(name))
    write(place, at, written)
    fields.push({
      name,
      schema: example === undefined ? schema : { ...schema, examples: [example] },
    })
  }
  for (const { id, place, at } of secrets) write(place, at, references.get(id))
  const implementation: Schema = {
    method: request.method,
    url: asTyped(request.origin + path.map((segment) => `/${segment}`).join('')),
  }
  if (Object.keys(query).length > 0) implementation.query = plain(query)
  if (Object.keys(headers).length > 0) implementation.headers = plain(headers)
  if (body !== undefined) implementation.body = plain(body)
  if (request.filter) implementation.response = request.filter
  return { implementation, fields }
}

/** A schema with more inputs. One that is there already stays as it was described. */
export function withFields(schema: Schema, fields: Made['fields']): Schema {
  const properties = isJson(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const fresh = fields.filter(({ name }) => !Object.hasOwn(properties, name))
  if (fresh.length === 0) return schema
  return {
    ...schema,
    properties: {
      ...properties,
      ...Object.fromEntries(fresh.map(({ name, schema }) => [name, schema])),
    },
    required: [...required, ...fresh.map(({ name }) => name)],
  }
}

// A variable inside of a longer text is filled in there; else the expression stands alone and keeps its type.
function wholeOr(value: unknown, expression: string): string {
  return typeof value === 'string' && hasVariable(value)
    ? value.replace(VARIABLE, () => expression)
    : expression
}

function placeValue(request: CurlRequest, place: Place, at: Step[]): unknown {
  if (place === 'path') return request.path[Number(at[0])]
  if (place === 'headers') return request.headers.find(([name]) => name === at[0])?.[1]
  if (place === 'query') return grouped(request.query)[String(at[0])]
  return leavesOf(valueOfBody(request)).find(([path]) => path.join('/') === at.join('/'))?.[1]
}

function valueOfBody({ body }: CurlRequest): unknown {
  if (!body) return undefined
  if (body.as === 'json') return body.value
  return body.as === 'form' ? grouped(body.pairs) : body.text
}

/** Names with values; a name that stands there several times has a list. */
function grouped(pairs: readonly [string, string][]): Record<string, string | string[]> {
  const groups: Record<string, string | string[]> = {}
  for (const [name, value] of pairs) {
    const before = Object.hasOwn(groups, name) ? groups[name] : undefined
    groups[name] = before === undefined ? value : [before, value].flat()
  }
  return groups
}

const LEAVES_MAX = 60

/** The values of a body that are no objects. A list is one value: a tool has no input per entry. */
function leavesOf(body: unknown, at: Step[] = []): [at: Step[], value: unknown][] {
  if (body === undefined) return []
  if (!isJson(body)) return [[at, body]]
  return Object.entries(body)
    .flatMap(([name, value]) => leavesOf(value, [...at, name]))
    .slice(0, LEAVES_MAX)
}

/** What an example is, as a schema says it. In an address everything is text, and is read. */
function schemaOf(value: unknown, isTyped: boolean): Schema {
  if (Array.isArray(value)) {
    const [first] = value
    return first === undefined
      ? { type: 'array' }
      : { type: 'array', items: schemaOf(first, isTyped) }
  }
  if (isJson(value)) return { type: 'object' }
  if (typeof value === 'boolean') return { type: 'boolean' }
  if (typeof value === 'bigint') return { type: 'integer' }
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' }
  if (typeof value !== 'string') return {}
  if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return { type: 'string', format: 'date' }
  if (isTyped) return { type: 'string' }
  if (/^(true|false)$/.test(value)) return { type: 'boolean' }
  // A zero in front belongs to a code, not to a number.
  if (/^-?(0|[1-9]\d{0,14})$/.test(value)) return { type: 'integer' }
  return { type: /^-?(0|[1-9]\d{0,14})\.\d+$/.test(value) ? 'number' : 'string' }
}

/** An example as its schema wants it: what stands in an address is text. */
function castTo({ type }: Schema, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (type === 'boolean') return value === 'true'
  return type === 'integer' || type === 'number' ? Number(value) : value
}

function credentialOf(name: string, value: string): Pick<Secret, 'type' | 'payload' | 'scheme'> {
  const isKnown = !hasVariable(value)
  const [, scheme = '', rest = value] = /authorization/i.test(name)
    ? (/^([A-Za-z][\w-]*) +(\S.*)$/.exec(value) ?? [])
    : []
  const word = scheme.toLowerCase()
  if (word === 'bearer') {
    return { type: 'bearer', scheme: 'Bearer ', payload: isKnown ? { token: rest } : undefined }
  }
  if (word === 'basic') {
    const [, username = '', password = ''] = /^([^:]*):?([^]*)$/.exec(atobOf(rest)) ?? []
    const payload =
      isKnown && !hasVariable(username + password) ? { username, password } : undefined
    return { type: 'basic', scheme: 'Basic ', payload }
  }
  return {
    type: 'api_key',
    scheme: scheme ? `${scheme} ` : '',
    payload: isKnown ? { api_key: rest } : undefined,
  }
}

function btoaOf(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}

function atobOf(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)))
  } catch {
    return text
  }
}

/** The example of a path: in `/users/42` the 42 is a `user_id`. */
function nameAfter(segment: string): string {
  const word = decoded(segment)
    .replace(/ies$/, 'y')
    .replace(/([^s])s$/, '$1')
  return /^[a-z]\w*$/i.test(word) && !/^v\d+$/.test(word) ? `${word}_id` : 'path'
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  const word = wanted.replace(/\W+/g, '_').replace(/^[\d_]+|_+$/g, '') || 'value'
  let name = word
  for (let number = 2; taken.has(name); number++) name = `${word}_${number}`
  return name
}

/** The same without marks of variables that nobody made an input. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return asTyped(value)
  if (Array.isArray(value)) return value.map(plain)
  if (!isJson(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, plain(entry)]))
}

/** Labels for credentials of a host: `github` for `api.github.com`, then `github-2`. */
export function labelsFor(origin: string, count: number, taken: readonly string[]): string[] {
  const host = origin.replace(/^https?:\/\//, '').replace(/:\d+$/, '')
  const parts = host.split('.').filter((part) => !/^(www|api|\d+)$/.test(part))
  const word = (parts.length > 1 ? parts.at(-2) : parts[0]) ?? 'api'
  const label = word.toLowerCase().replace(/[^a-z0-9-]/g, '') || 'api'
  const labels: string[] = []
  for (let number = 1; labels.length < count; number++) {
    const free = number === 1 ? label : `${label}-${number}`
    if (!taken.includes(free)) labels.push(free)
  }
  return labels
}
