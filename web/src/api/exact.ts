declare global {
  interface BigInt {
    toJSON(): unknown
  }
  interface JSON {
    /** Browsers of before 2025 do not have it. */
    rawJSON?(text: string): unknown
  }
}

// Whoever shows a value by `JSON.stringify` must not fail at a large number.
BigInt.prototype.toJSON = function () {
  return JSON.rawJSON?.(String(this)) ?? Number(this)
}

/** What nobody can have written: behind it stands a large whole number. */
const MARK = `${Math.random()}:`
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g')
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Reads JSON. A whole number that a `number` would round is a `bigint`. */
export function parse(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!/\d{16}/.test(text)) return value
  const marked = text.replace(TOKENS, (token) => (isLarge(token) ? `"${MARK}${token}"` : token))
  return JSON.parse(marked, (_, entry) =>
    typeof entry === 'string' && entry.startsWith(MARK) ? BigInt(entry.slice(MARK.length)) : entry,
  )
}

/** Writes JSON, with every digit of a `bigint`. */
export function stringify(value: unknown, space?: number): string {
  const marked = JSON.stringify(
    value,
    function (this: Record<string, unknown>, name, entry) {
      const own = this[name]
      return typeof own === 'bigint' ? MARK + own : entry
    },
    space,
  )
  return marked?.replace(MARKED, '$1')
}

/** The number that digits are: a `bigint` where a `number` would round it. */
export function whole(digits: string): number | bigint {
  return isLarge(digits) ? BigInt(digits) : Number(digits)
}

function isLarge(token: string): boolean {
  return /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token))
}
