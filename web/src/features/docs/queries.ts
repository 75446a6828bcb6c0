import { queryOptions } from '@tanstack/react-query'

import { Problem } from '~/api/problem'

export const SECTIONS = ['guide', 'tools', 'errors', 'decisions'] as const
export type Section = (typeof SECTIONS)[number]

/** A page of the book, as the server lists it. */
export interface BookPage {
  path: string
  /** Where its Markdown is. */
  markdown: string
  section: Section
  title: string
  summary: string
  headings: { level: number; text: string }[]
}

/** Every page of the book, in the order of reading. */
export const book = queryOptions({
  queryKey: ['docs'],
  queryFn: async (): Promise<BookPage[]> => JSON.parse(await read('/docs/index.json')),
  staleTime: Number.POSITIVE_INFINITY,
})

/** The Markdown of a page. */
export const pageText = (markdown: string) =>
  queryOptions({
    queryKey: ['docs', markdown],
    queryFn: () => read(markdown),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** What the server serves beside its API, for everybody. */
export async function read(path: string): Promise<string> {
  const response = await fetch(path).catch((error) => {
    throw Problem.unreachable(error)
  })
  if (!response.ok) throw await Problem.of(response)
  return response.text()
}
