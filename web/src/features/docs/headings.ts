export interface PageHeading {
  id: string
  level: number
  text: string
  /** The line of the Markdown it stands in, counted from 1. */
  line: number
}

/** The headings of a page but its title, with the anchors that other viewers of Markdown give them, too. */
export function headingsOf(markdown: string): PageHeading[] {
  const found: Omit<PageHeading, 'id'>[] = []
  let isCode = false
  for (const [index, line] of markdown.split('\n').entries()) {
    if (line.trimStart().startsWith('```')) isCode = !isCode
    const [, marks = '', text = ''] = (!isCode && /^(#{2,6}) (.+)$/.exec(line)) || []
    if (marks) found.push({ level: marks.length, text: plain(text), line: index + 1 })
  }
  const ids = anchorsOf(found.map(({ text }) => text))
  return found.map((heading, place) => ({ ...heading, id: ids[place] ?? '' }))
}

/** The anchors of the headings of a page; what is there a second time gets a number. */
export function anchorsOf(texts: string[]): string[] {
  const seen = new Map<string, number>()
  return texts.map((text) => {
    const anchor = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const before = seen.get(anchor) ?? 0
    seen.set(anchor, before + 1)
    return before === 0 ? anchor : `${anchor}-${before}`
  })
}

/** The words of a heading without the marks of Markdown. */
function plain(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '')
}
