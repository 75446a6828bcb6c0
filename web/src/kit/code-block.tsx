import { type ReactNode, useMemo } from 'react'

import { cn } from './cn'
import { CopyButton } from './copy'

/** More is shown without colours: each word would be an element of its own. */
const COLOURED_MAX = 60_000

interface Props {
  text: string
  label: string
  /** What it is written in; only JSON has colours. */
  language?: string
  className?: string
}

/** Code to read and to copy. It scrolls by itself, by keyboard too. */
export function CodeBlock({ text, label, language, className }: Props) {
  const shown = useMemo(
    () => (language === 'json' && text.length <= COLOURED_MAX ? coloured(text) : text),
    [text, language],
  )
  return (
    <div className="relative min-w-0">
      <pre
        tabIndex={0}
        role="group"
        aria-label={label}
        className={cn(
          'my-0 overflow-auto rounded-lg border border-line bg-raised p-3 pr-12 font-mono text-xs leading-relaxed text-text',
          className,
        )}
      >
        <code>{shown}</code>
      </pre>
      <div className="absolute top-1.5 right-1.5 rounded-md bg-raised">
        <CopyButton text={text} />
      </div>
    </div>
  )
}

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g

/** JSON with names, texts and other values in colours of their own. */
function coloured(json: string): ReactNode[] {
  const parts: ReactNode[] = []
  let end = 0
  for (const match of json.matchAll(TOKEN)) {
    const [token, text, colon] = match
    const word = text ?? token
    const colour = colon ? 'text-accent' : text ? 'text-good' : 'text-warn'
    parts.push(json.slice(end, match.index))
    parts.push(
      <span key={match.index} className={colour}>
        {word}
      </span>,
    )
    parts.push(colon ?? '')
    end = match.index + token.length
  }
  return [...parts, json.slice(end)]
}
