export type Bump = 'none' | 'patch' | 'minor' | 'major'

type Version = [major: number, minor: number, patch: number]

/** The number of a version without what stands behind a `-` or `+`. */
function parse(version: string): Version {
  const [major = 0, minor = 0, patch = 0] = version
    .replace(/[-+].*$/, '')
    .split('.')
    .map((part) => Number.parseInt(part, 10) || 0)
  return [major, minor, patch]
}

function isGreater(a: Version, b: Version): boolean {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? 0
    if (part !== other) return part > other
  }
  return false
}

function bumped([major, minor, patch]: Version, bump: Bump): Version {
  if (bump === 'major') return [major + 1, 0, 0]
  if (bump === 'minor') return [major, minor + 1, 0]
  return [major, minor, patch + 1]
}

/**
 * The number that a draft should get: what runs now with the part raised that the changes ask for. A
 * draft that already has a number as great gets the next one after its own.
 */
export function suggestVersion(live: string, draft: string, bump: Bump): string {
  const wanted = bumped(parse(live), bump)
  const own = parse(draft)
  const next = isGreater(wanted, own) ? wanted : bumped(own, 'patch')
  return next.join('.')
}

/**
 * The number under which a draft is published: its own, where that is enough for what changed; else what runs with the
 * part raised that the changes ask for. What never ran keeps its number.
 */
export function proposeVersion(live: string | undefined, draft: string, bump: Bump): string {
  if (live === undefined || bump === 'none') return draft
  const wanted = bumped(parse(live), bump)
  return isGreater(wanted, parse(draft)) ? wanted.join('.') : draft
}

/** Whether a number says less than the changes ask for. */
export function isTooLow(version: string, live: string, bump: Bump): boolean {
  return bump !== 'none' && isGreater(bumped(parse(live), bump), parse(version))
}

/** Whether a number is smaller than another one. */
export function isLower(version: string, than: string): boolean {
  return isGreater(parse(than), parse(version))
}

export function isVersion(text: string): boolean {
  return /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)([-+][0-9A-Za-z.+-]+)?$/.test(text)
}
