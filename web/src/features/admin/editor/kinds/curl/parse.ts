import { parse } from '~/api/exact'
import { asTyped, commandsOf, CurlFault, hasVariable, VARIABLE } from './shell'

export type Pair = [name: string, value: string]

export type Body =
  | { as: 'json'; value: unknown }
  | { as: 'form'; pairs: Pair[] }
  | { as: 'text'; text: string }

/** A request as a command describes it. */
export interface CurlRequest {
  method: string
  /** Scheme, host and port. */
  origin: string
  /** What stands between slashes, as it was written. */
  path: string[]
  query: Pair[]
  headers: Pair[]
  body?: Body
  /** Name and password, which curl makes a header of. */
  user?: string
  /** The filter of a `jq` behind the command. */
  filter?: string
  /** What browsers send and services do not need. */
  leftOut: string[]
  /** What holds for every request of this server, whatever the command says. */
  notes: ('redirects' | 'certificates')[]
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

// Options by what is done with them. Those of no account are about the terminal, files and connections.
const SHORT: Record<string, string> = {
  X: 'request',
  H: 'header',
  d: 'data',
  u: 'user',
  F: 'form',
  T: 'upload-file',
  b: 'cookie',
  A: 'user-agent',
  e: 'referer',
  r: 'range',
  G: 'get',
  I: 'head',
  L: 'location',
  k: 'insecure',
  K: 'config',
  ':': 'next',
}
const TAKEN =
  `request header data data-raw data-ascii data-binary data-urlencode json user url form form-string upload-file
  cookie user-agent referer range config oauth2-bearer url-query aws-sigv4`.split(/\s+/)
const SWITCHES = ['get', 'head', 'location', 'location-trusted', 'insecure', 'next']
const SHORT_PASSED = 'omxEwDcYyztCPQU'
const PASSED =
  `output max-time proxy cert write-out dump-header cookie-jar speed-limit speed-time connect-timeout retry
  retry-delay retry-max-time cacert capath key cert-type key-type pass resolve connect-to interface limit-rate netrc-file
  ciphers tls-max tls13-ciphers trace trace-ascii stderr proxy-user noproxy unix-socket max-redirs max-filesize
  keepalive-time dns-servers output-dir`.split(/\s+/)
const REFUSED = ['form', 'form-string', 'upload-file', 'config', 'aws-sigv4', 'next']

const NOISE =
  /^(sec-.*|accept-encoding|accept-language|user-agent|origin|referer|host|connection|content-length|cache-control|pragma|dnt|priority|te|upgrade-insecure-requests|x-requested-with|if-none-match|if-modified-since)$/i

interface Said {
  name: string
  value: string
}

/** Reads a command. What cannot be made a tool of is thrown as a `CurlFault`. */
export function parseCurl(text: string): CurlRequest {
  const [words = [], ...piped] = commandsOf(text.trim().replace(/^\$\s+/, ''))
  while (/^\w+=/.test(words[0] ?? '') || words[0] === 'sudo') words.shift()
  const program = words.shift()
  if (!/(^|\/)curl(\.exe)?$/i.test(program ?? '')) throw new CurlFault('not_curl')
  const said = optionsOf(words)
  const all = (name: string) => said.filter((one) => one.name === name).map(({ value }) => value)
  const has = (name: string) => said.some((one) => one.name === name)
  const refused = said.find(({ name }) => REFUSED.includes(name))
  if (refused) throw new CurlFault(`refused_${refused.name.replace(/-string$/, '')}`)
  const [address, ...others] = all('url')
  if (address === undefined) throw new CurlFault('no_url')
  if (others.length > 0) throw new CurlFault('many_urls')

  const url = addressOf(address)
  const headers = all('header').flatMap(headerOf)
  const put = (name: string, value: string | undefined) => {
    if (value !== undefined && !headers.some(([other]) => is(other, name)))
      headers.push([name, value])
  }
  put('Cookie', all('cookie').at(-1))
  put('User-Agent', all('user-agent').at(-1))
  put('Referer', all('referer').at(-1))
  put(
    'Range',
    all('range')
      .map((range) => `bytes=${range}`)
      .at(-1),
  )
  put(
    'Authorization',
    all('oauth2-bearer')
      .map((token) => `Bearer ${token}`)
      .at(-1),
  )
  if (all('cookie').some((cookie) => !cookie.includes('=')))
    throw new CurlFault('file', { option: '-b' })

  const data = dataOf(said)
  const query = [...url.query, ...all('url-query').flatMap(pairsOf)]
  if (has('get') && data) query.push(...pairsOf(data.text))
  const sent = has('get') ? undefined : data
  const usual = has('head') ? 'HEAD' : sent ? 'POST' : 'GET'
  const method = (all('request').at(-1) ?? usual).toUpperCase()
  if (!METHODS.includes(method)) throw new CurlFault('method', { method })
  const body = sent && bodyOf(sent, headers.find(([name]) => is(name, 'content-type'))?.[1])
  const isNoise = ([name, value]: Pair) =>
    NOISE.test(name) ||
    (is(name, 'accept') && /\*\/\*|^application\/json$/.test(value)) ||
    // The server says itself that it sends JSON.
    (is(name, 'content-type') && (body === undefined || body.as === 'json'))
  const kept = headers.filter((pair) => !isNoise(pair))
  if (body?.as === 'form' && !kept.some(([name]) => is(name, 'content-type'))) {
    kept.push(['Content-Type', 'application/x-www-form-urlencoded'])
  }
  const notes: CurlRequest['notes'] = []
  if (has('location') || has('location-trusted')) notes.push('redirects')
  if (has('insecure')) notes.push('certificates')
  const request: CurlRequest = {
    method,
    origin: url.origin,
    path: url.path,
    query,
    headers: kept,
    body,
    user: all('user').at(-1) ?? url.user,
    filter: filterOf(piped),
    leftOut: headers.filter(isNoise).map(([name]) => name),
    notes,
  }
  // Two braces begin an expression in a tool, and nothing may become one by accident.
  if (JSON.stringify([request.path, query, kept, body]).includes('{{'))
    throw new CurlFault('braces', { braces: '{{' })
  return request
}

function is(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase()
}

function optionsOf(words: string[]): Said[] {
  const said: Said[] = []
  const queue = [...words]
  const value = (option: string) => {
    const next = queue.shift()
    if (next === undefined) throw new CurlFault('no_value', { option })
    return next
  }
  let isOver = false
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (isOver || !/^-./.test(word)) said.push({ name: 'url', value: word })
    else if (word === '--') isOver = true
    else if (word.startsWith('--')) {
      const name = word.slice(2)
      if (TAKEN.includes(name)) said.push({ name, value: value(word) })
      else if (SWITCHES.includes(name)) said.push({ name, value: '' })
      else if (PASSED.includes(name)) value(word)
    } else shorts(word, said, value)
  }
  return said
}

/** `-sSLXPOST`: several letters in one word, the last of which may have its value behind it. */
function shorts(word: string, said: Said[], value: (option: string) => string) {
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at)
    const name = SHORT[letter]
    const takes = name ? TAKEN.includes(name) : SHORT_PASSED.includes(letter)
    if (!takes) {
      if (name) said.push({ name, value: '' })
      continue
    }
    const given = word.slice(at + 1) || value(`-${letter}`)
    if (name) said.push({ name, value: given })
    return
  }
}

function addressOf(text: string) {
  const full = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`
  const [, scheme = '', authority = '', path = '', search = ''] =
    /^(https?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?/i.exec(full) ?? []
  if (!scheme) throw new CurlFault('scheme', { address: asTyped(text) })
  const [, user, host = ''] = /^(?:(.*)@)?(.*)$/.exec(authority) ?? []
  if (hasVariable(host) || /[{}]/.test(host)) throw new CurlFault('host', { host: asTyped(host) })
  if (!URL.canParse(`${scheme}://${host}`)) throw new CurlFault('no_url')
  return {
    origin: `${scheme.toLowerCase()}://${host}`,
    user: user === undefined ? undefined : decoded(user),
    path: path.split('/').slice(1),
    query: pairsOf(search.slice(1)),
  }
}

function headerOf(text: string): Pair[] {
  if (text.startsWith('@')) throw new CurlFault('file', { option: '-H' })
  const colon = text.indexOf(':')
  if (colon < 0) {
    // `Name;` sends a header without a value.
    return text.endsWith(';') ? [[text.slice(0, -1), '']] : []
  }
  const value = text.slice(colon + 1).trim()
  // `Name:` takes away what curl would send itself.
  return value === '' ? [] : [[text.slice(0, colon).trim(), value]]
}

export function pairsOf(text: string): Pair[] {
  return text
    .split('&')
    .filter(Boolean)
    .map((part) => {
      const [name = '', ...value] = part.split('=')
      return [decoded(name, true), decoded(value.join('='), true)]
    })
}

/** A text without its percent signs; one that has them for themselves stays as it is. */
export function decoded(text: string, plus = false): string {
  try {
    return decodeURIComponent(plus ? text.replaceAll('+', ' ') : text)
  } catch {
    return text
  }
}

const FROM_FILE = ['data', 'data-ascii', 'data-binary', 'json']

function dataOf(said: Said[]): { text: string; isJson: boolean } | undefined {
  const parts = said.filter(({ name }) => name.startsWith('data') || name === 'json')
  if (parts.length === 0) return undefined
  const written = parts.map(({ name, value }) => {
    if (FROM_FILE.includes(name) && value.startsWith('@')) {
      throw new CurlFault('file', { option: `--${name}` })
    }
    return name === 'data-urlencode' ? encoded(value) : value
  })
  const isJson = parts.some(({ name }) => name === 'json')
  return { text: written.join(isJson ? '' : '&'), isJson }
}

function encoded(value: string): string {
  const [, name = '', mark, content = ''] = /^([^=@]*)([=@])([^]*)$/.exec(value) ?? []
  if (mark === '@') throw new CurlFault('file', { option: '--data-urlencode' })
  const text = mark ? content : value
  return name ? `${name}=${escaped(text)}` : escaped(text)
}

// The marks of variables are read again behind this.
function escaped(text: string): string {
  return text.replace(/[^\uE000\uE001]/gu, (char) => encodeURIComponent(char))
}

function bodyOf(
  { text, isJson }: { text: string; isJson: boolean },
  type: string | undefined,
): Body {
  const kind = (type ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const saysJson = isJson || /^(application|text)\/(.*\+)?json$/.test(kind)
  const read = jsonOf(text)
  // Nobody sends a list of names and values that looks like an object: the type was forgotten.
  const isForgotten = !type && /^\s*[{[]/.test(text)
  if (saysJson || isForgotten) {
    if (!read) throw new CurlFault('json')
    return { as: 'json', value: read.value }
  }
  if (!type || kind === 'application/x-www-form-urlencoded') {
    return { as: 'form', pairs: pairsOf(text) }
  }
  if (kind.startsWith('multipart/')) throw new CurlFault('refused_form')
  return { as: 'text', text }
}

const BARE = new RegExp(`([:[,]\\s*)(${VARIABLE.source})(?=\\s*[,}\\]])`, 'g')

function jsonOf(text: string): { value: unknown } | undefined {
  try {
    // A variable without quotes stands for a number or the like.
    return { value: parse(text.replace(BARE, '$1"$2"')) }
  } catch {
    return undefined
  }
}

function filterOf(piped: string[][]): string | undefined {
  const [words] = piped
  if (words?.[0] !== 'jq') return undefined
  const filter = words.slice(1).find((word) => !word.startsWith('-'))
  return filter === '.' || (filter && hasVariable(filter)) ? undefined : filter
}
