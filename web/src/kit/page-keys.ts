import { useEffect, useSyncExternalStore } from 'react'

/** A key, and the name of what it does among the texts of `keys`. */
export type Key = readonly [key: string, name: string]

// One sheet for all pages: it stands in the frame around them, and each page tells its own keys.
let state: { keys: readonly Key[]; isOpen: boolean } = { keys: [], isOpen: false }
const listeners = new Set<() => void>()

function set(change: Partial<typeof state>) {
  state = { ...state, ...change }
  for (const listener of listeners) listener()
}

/** Tells the keys of this page, for the sheet. */
export function usePageKeys(keys: readonly Key[]) {
  useEffect(() => {
    set({ keys })
    return () => set({ keys: [] })
  }, [keys])
}

export function showSheet(isOpen: boolean) {
  set({ isOpen })
}

export function useSheet() {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => state,
  )
}
