import { Fragment } from 'react'

import { cn } from '~/kit/cn'
import type { Method } from './model'

/** A sentence of the description, in which backticks mark code. */
export function Sentence({ text }: { text: string }) {
  return text.split('`').map((part, place) => {
    const key = `${place} ${part}`
    if (place % 2 === 0) return <Fragment key={key}>{part}</Fragment>
    return (
      <code key={key} className="rounded bg-sunken px-1 py-0.5 font-mono text-[0.9em] break-words">
        {part}
      </code>
    )
  })
}

const TONES: Record<Method, string> = {
  get: 'bg-good-soft text-good',
  post: 'bg-accent-soft text-accent',
  put: 'bg-warn-soft text-warn',
  patch: 'bg-warn-soft text-warn',
  delete: 'bg-bad-soft text-bad',
}

export function MethodBadge({ method, className }: { method: Method; className?: string }) {
  return (
    <span
      className={cn(
        'inline-block h-fit w-14 shrink-0 rounded px-1 py-0.5 text-center font-mono text-[0.6875rem] font-semibold uppercase',
        TONES[method],
        className,
      )}
    >
      {method}
    </span>
  )
}
