import { findIn } from './find'
import type { BookPage } from './queries'

const page = (title: string, headings: string[], summary = ''): BookPage => ({
  path: `/docs/${title}`,
  markdown: `/docs/${title}.md`,
  section: 'guide',
  title,
  summary,
  headings: headings.map((text) => ({ level: 2, text })),
})

const PAGES = [
  page('Kinds of tools', ['http', 'Composition', 'http'], 'How a tool runs.'),
  page('HTTP request', ['Input', 'Output'], 'Asks a service.'),
  page('TIMEOUT', [], 'The tool was too slow.'),
]

const told = (typed: string) =>
  findIn(PAGES, typed).map(({ page, anchor }) => (anchor ? `${page.title}#${anchor}` : page.title))

test('titles come before headings, and headings before what pages say first', () => {
  expect(told('http')).toEqual(['HTTP request', 'Kinds of tools#http', 'Kinds of tools#http-1'])
  expect(told('SLOW')).toEqual(['TIMEOUT'])
})

test('every word counts, of the heading or of its title', () => {
  expect(told('kinds comp')).toEqual(['Kinds of tools#composition'])
  expect(told('kinds nothing')).toEqual([])
  expect(told('  ')).toEqual([])
})
