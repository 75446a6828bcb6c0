import { type RefObject, useEffect, useState } from 'react'

interface Ending {
  /** Whether this person can end it, as things stand now. */
  canEnd: boolean
  isDone: boolean
  /** What this person sent to end it. */
  sent: { isPending: boolean; isSuccess: boolean }
  /** Where the outcome is told. */
  heading: RefObject<HTMLElement | null>
}

/**
 * Whether others ended what this person was looking at and could have ended. However it ended, what they worked on is
 * gone then, and the focus must not go with it: it is led to the outcome. Whoever still has a cursor elsewhere keeps it.
 */
export function useOvertaken({ canEnd, isDone, sent, heading }: Ending): boolean {
  const [couldEnd] = useState(canEnd)
  const isMine = isDone && sent.isSuccess
  // What was sent takes effect a moment before its answer is here.
  const isOvertaken = isDone && couldEnd && !sent.isPending && !sent.isSuccess
  useEffect(() => {
    if (!isMine && !isOvertaken) return
    // A dialog that closes has its turn first.
    const timer = setTimeout(() => {
      const isFree = document.activeElement === null || document.activeElement === document.body
      if (isMine || isFree) heading.current?.focus()
      else heading.current?.scrollIntoView({ block: 'nearest' })
    })
    return () => clearTimeout(timer)
  }, [isMine, isOvertaken, heading])
  return isOvertaken
}
