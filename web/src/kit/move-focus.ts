/**
 * Moves the focus by so many links, or to the first one if it is on none; answers the place where it is then.
 * Moving through a list is moving the focus, so that Enter and screen readers need no help.
 */
export function moveFocus(links: HTMLElement[], by: number): number {
  const place = links.findIndex((link) => link === document.activeElement)
  const next = place < 0 ? 0 : Math.min(links.length - 1, Math.max(0, place + by))
  links[next]?.focus()
  links[next]?.scrollIntoView({ block: 'nearest' })
  return next
}

/** The links of a page that are marked so, in the order in which they stand. */
export function marked(mark: string): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(`main [data-${mark}]`)]
}
