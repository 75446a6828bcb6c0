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

/** A slug made of a name, as a first guess. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^[^a-z]+|[-.]+$/g, '')
    .slice(0, 128)
}
