import { format } from '@cfworker/json-schema'

/** The formats that the server checks. Any other word is a hint for forms and checks nothing. */
export const CHECKED = [
  'date',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'iri',
  'iri-reference',
  'json-pointer',
  'regex',
  'relative-json-pointer',
  'time',
  'uri',
  'uri-reference',
  'uri-template',
  'uuid',
]

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = new RegExp(`^(?:${OCTET}\\.){3}${OCTET}$`)
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

/** Makes the interpreter check the formats that the server checks, and no others. */
export function useOurFormats() {
  for (const name of Object.keys(format)) {
    if (!CHECKED.includes(name)) delete format[name]
  }
  const { uri, 'uri-reference': reference, 'date-time': dateTime } = format
  const full = (text: string) => (uri?.(text) ?? true) && hasSoundHost(text)
  const relative = (text: string) => (reference?.(text) ?? true) && hasSoundHost(text)
  format.ipv4 = (text) => IPV4.test(text)
  format.uri = full
  format['uri-reference'] = relative
  format.iri = (text) => full(asUri(text))
  format['iri-reference'] = (text) => relative(asUri(text))
  format['date-time'] = (text) => DATE_TIME.test(text) && (dateTime?.(text) ?? true)
}

/** An IRI is a URI in which letters of every language may stand as they are. */
function asUri(text: string): string {
  return text.replace(/[^\p{ASCII}\p{C}\p{Z}]/gu, 'x')
}

/** Whether what stands behind the host is a port. An IPv6 address needs brackets. */
function hasSoundHost(text: string): boolean {
  const authority = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)/i.exec(text)?.[1]
  const host = authority?.replace(/^.*@/, '') ?? ''
  return host.startsWith('[') || /^[^:]*(?::\d*)?$/.test(host)
}
