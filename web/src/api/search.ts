/** The parameters of an address, of which any may be missing or nonsense. */
export type Raw = Record<string, unknown>

/** A parameter as text. The router reads `?q=1` as a number, so that is text too. */
export function text(raw: Raw, key: string): string | undefined {
  const value = raw[key]
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A parameter that is one of a few words; anything else counts as missing. */
export function oneOf<T extends string>(raw: Raw, key: string, words: readonly T[]): T | undefined {
  return words.find((word) => word === raw[key])
}
