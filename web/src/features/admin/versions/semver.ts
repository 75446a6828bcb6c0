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

export function isVersion(text: string): boolean {
  return /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)([-+][0-9A-Za-z.+-]+)?$/.test(text)
}
