import { CircleAlert } from 'lucide-react'

import { cn } from '~/kit/cn'

export const hintId = (id: string) => `${id}-hint`
export const faultId = (id: string) => `${id}-fault`

/** A hint. What stands between backticks is the name of something, as in the descriptions of tools. */
export function Hint({ id, text, className }: { id?: string; text?: string; className?: string }) {
  if (!text) return null
  return (
    <p id={id} className={cn('text-xs break-words whitespace-pre-line text-muted', className)}>
      {text
        .split('`')
        .map((part, index) =>
          index % 2 === 1 ? <code key={`${index}-${part}`}>{part}</code> : part,
        )}
    </p>
  )
}

/** What is wrong with a field, next to it. */
export function Faults({ id, faults }: { id: string; faults?: string[] }) {
  if (!faults || faults.length === 0) return null
  return (
    <ul id={id} className="grid gap-0.5 text-xs text-bad">
      {faults.map((fault) => (
        <li key={fault} className="flex items-start gap-1.5">
          <CircleAlert aria-hidden className="mt-0.5 size-3 shrink-0" />
          <span className="min-w-0 break-words">{fault}</span>
        </li>
      ))}
    </ul>
  )
}
