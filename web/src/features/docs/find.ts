import { anchorsOf } from './headings'
import type { BookPage } from './queries'

/** A page or a heading of one that somebody looks for. */
export interface Hit {
  page: BookPage
  heading?: string
  anchor?: string
}

const SHOWN_MAX = 30

/** The pages and headings that have every word, titles first; a heading counts with the title above it. */
export function findIn(pages: BookPage[], typed: string): Hit[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const titles = pages.filter(({ title }) => has(title)).map((page): Hit => ({ page }))
  const headings = pages.flatMap((page) => {
    const anchors = anchorsOf(page.headings.map(({ text }) => text))
    return page.headings
      .map(({ text }, place): Hit => ({ page, heading: text, anchor: anchors[place] }))
      .filter(({ heading = '' }) => has(`${page.title} ${heading}`) && !has(page.title))
  })
  const told = new Set([...titles, ...headings].map(({ page }) => page))
  const rest = pages.filter((page) => !told.has(page) && has(page.summary))
  return [...titles, ...headings, ...rest.map((page): Hit => ({ page }))].slice(0, SHOWN_MAX)
}
