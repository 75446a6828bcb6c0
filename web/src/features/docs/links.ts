import { safeLink } from '~/features/result/words'

/** The address in the app of what a link on a page of the book leads to; none for one that leads nowhere. */
export function linkFrom(markdown: string, target: string): string | undefined {
  if (target.startsWith('#')) return target
  if (/^[a-z][a-z\d+.-]*:/i.test(target)) return safeLink(target)
  const base = 'http://book.invalid'
  if (!URL.canParse(target, base + markdown)) return undefined
  const { origin, pathname, hash, search } = new URL(target, base + markdown)
  if (origin !== base) return undefined
  return pathOf(pathname) + search + hash
}

/** The path of a page by that of its Markdown. */
function pathOf(markdown: string): string {
  return markdown.replace(/(\/README)?\.md$/, '')
}

/** Whether a link stays in the app. */
export function isOurs(address: string): boolean {
  return address === '/docs' || address.startsWith('/docs/') || address.startsWith('/docs#')
}
