import { CircleAlert } from 'lucide-react'

export const hintId = (id: string) => `${id}-hint`
export const faultId = (id: string) => `${id}-fault`

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
