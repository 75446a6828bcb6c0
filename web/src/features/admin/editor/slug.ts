const RESERVED = ['builtins', 'new', 'session', 'import', 'image-models']
const UUID = /^\{?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\}?$/i

export type SlugFault = 'empty' | 'long' | 'character' | 'part_start' | 'underscores' | 'reserved'

/** What is wrong with a slug, by the server's rules; it says the last word. */
export function faultOfSlug(slug: string): SlugFault | undefined {
  if (slug === '') return 'empty'
  if (slug.length > 128) return 'long'
  if (/[^a-z0-9._-]/i.test(slug)) return 'character'
  if (!slug.split('.').every((part) => /^[a-z]/i.test(part))) return 'part_start'
  if (slug.includes('__')) return 'underscores'
  if (RESERVED.includes(slug.toLowerCase()) || UUID.test(slug)) return 'reserved'
  return undefined
}

// Letters that are spelt otherwise where there are only ours. From any other one its mark is taken.
const SPELT = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ł: 'l',
  þ: 'th',
}

/** A slug made of a name, as a first guess. A name has no groups, so a dot in it is no dot of a slug. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[äöüßæœøđłþ]/g, (letter) => SPELT[letter as keyof typeof SPELT])
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 128)
    .replace(/-+$/, '')
}

/** The slug that is proposed for a name. A word that is reserved gets another one behind it. */
export function proposedSlug(name: string): string {
  const slug = slugOf(name)
  return faultOfSlug(slug) === 'reserved' ? `${slug}-tool` : slug
}

/** The slug once a new tool has another name: it follows the name until somebody writes their own. */
export function followed(now: { name: string; slug: string }, name: string): string {
  return now.slug === proposedSlug(now.name) ? proposedSlug(name) : now.slug
}

/** Whether two names are one to the server: case, and which mark stands between words, make no difference. */
export function isSameSlug(one: string, other: string): boolean {
  const plain = (slug: string) => slug.toLowerCase().replace(/[._]/g, '-')
  return plain(one) === plain(other)
}
