import { useMemo } from 'react'

import { cn } from './cn'
import { plain } from './plain'

/** So much of a text is laid out at a time. */
const CHUNK = 4_000
/** A line of small type, and about how much of a text is in one; only to guess how far there is to scroll. */
const LINE_PX = 16
const LINE_LETTERS = 100

/** A text in pieces that end with a line where that is possible. Put together they are the text. */
export function chunks(text: string, size = CHUNK): string[] {
  const found: string[] = []
  for (let from = 0; from < text.length; ) {
    const most = from + size
    const line = most < text.length ? text.lastIndexOf('\n', most - 1) + 1 : text.length
    // No half of a letter that is written by two signs.
    const cut = /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most
    const to = line > from ? line : cut
    found.push(text.slice(from, to))
    from = to
  }
  return found
}

/**
 * A text of any length, all of it. Only what is in sight is laid out: two megabytes as one text would hold up the page for
 * seconds. It belongs into a box that scrolls.
 */
export function LongText({ text, className }: { text: string; className?: string }) {
  const parts = useMemo(() => chunks(text), [text])
  return parts.map((part, index) => (
    <span
      key={index}
      className={cn('block [content-visibility:auto]', className)}
      style={{ containIntrinsicBlockSize: `auto ${linesOf(part) * LINE_PX}px` }}
    >
      {/* The end of the block is the end of its last line. */}
      {plain(part.endsWith('\n') ? part.slice(0, -1) : part) || ' '}
    </span>
  ))
}

function linesOf(text: string): number {
  const lines = text.split('\n')
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_LETTERS)), 0)
}
