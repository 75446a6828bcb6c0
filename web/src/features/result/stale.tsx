import { History } from 'lucide-react'

/** What is shown below is the result of something else than the page holds now. */
export function Stale({ text }: { text: string }) {
  return (
    <p className="flex items-start gap-2 rounded-md border border-warn bg-warn-soft px-3 py-2 text-warn">
      <History aria-hidden className="mt-0.5 size-4 shrink-0" />
      {text}
    </p>
  )
}
