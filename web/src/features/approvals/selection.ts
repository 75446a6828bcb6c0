import { useMemo, useState } from 'react'

/** Which approvals a person has ticked. */
export interface Selection {
  /** In the order of the list. */
  ids: string[]
  has: (id: string) => boolean
  set: (ids: readonly string[], on: boolean) => void
  clear: () => void
}

/** What is ticked of those that can be: what leaves the list leaves the selection with it. */
export function useSelection(possible: readonly string[]): Selection {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  return useMemo(() => {
    const ids = possible.filter((id) => ticked.has(id))
    return {
      ids,
      has: (id) => ticked.has(id),
      set: (changed, on) =>
        setTicked((before) => {
          const next = new Set(before)
          for (const id of changed) {
            if (on) next.add(id)
            else next.delete(id)
          }
          return next
        }),
      clear: () => setTicked(new Set()),
    }
  }, [possible, ticked])
}
