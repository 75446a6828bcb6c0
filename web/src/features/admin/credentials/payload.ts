export const CREDENTIAL_TYPES = ['api_key', 'bearer', 'basic', 'custom'] as const
export type CredentialType = (typeof CREDENTIAL_TYPES)[number]

/** The secret texts of each type. Those of `custom` have names of the person's choice. */
export const SECRETS: Record<CredentialType, readonly string[]> = {
  api_key: ['api_key'],
  bearer: ['token'],
  basic: ['username', 'password'],
  custom: [],
}

export interface Row {
  name: string
  text: string
}

/** What is typed about what is in a credential. It lives in the page alone, until it is sent. */
export interface Typed {
  type: CredentialType
  /** By their names; what belongs to another type waits for whoever goes back to it. */
  texts: Partial<Record<string, string>>
  rows: Row[]
}

const NO_ROW: Row = { name: '', text: '' }

export function blank(type: CredentialType): Typed {
  return { type, texts: {}, rows: [NO_ROW] }
}

export function typeOf(word: string): CredentialType {
  return CREDENTIAL_TYPES.find((type) => type === word) ?? 'custom'
}

export function takesEndpoint(type: CredentialType): boolean {
  return type === 'api_key' || type === 'bearer'
}

/** What is sent. An endpoint that is not given is left out; a secret that is not given is for the server to miss. */
export function payloadOf({ type, texts, rows }: Typed): Record<string, string> {
  if (type === 'custom') {
    return Object.fromEntries(rows.filter(isFilled).map(({ name, text }) => [name, text]))
  }
  const secrets = SECRETS[type].map((name) => [name, texts[name] ?? ''])
  const endpoint = takesEndpoint(type) ? texts.endpoint : undefined
  return Object.fromEntries(endpoint ? [...secrets, ['endpoint', endpoint]] : secrets)
}

export function isTyped({ texts, rows }: Typed): boolean {
  return Object.values(texts).some(Boolean) || rows.some(isFilled)
}

/** What keeps a row from being sent under its name. The server would see only what is left. */
export function faultOfRow(rows: readonly Row[], index: number): 'missing' | 'double' | undefined {
  const row = rows[index]
  if (!row || !isFilled(row)) return undefined
  if (row.name === '') return 'missing'
  return rows.findIndex(({ name }) => name === row.name) < index ? 'double' : undefined
}

function isFilled({ name, text }: Row): boolean {
  return name !== '' || text !== ''
}

const SHOWN_MAX = 64

/** Where the server says that something is wrong with a text of a payload. */
export function pathOfText(name: string): string {
  const shown = [...name].slice(0, SHOWN_MAX).join('')
  return `/payload/${shown.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
