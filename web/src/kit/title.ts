import { useEffect, useSyncExternalStore } from 'react'

// What the page shows has a name of its own, such as a tool's. The title of the window is put together in one place,
// because browsers show the first of several.
let named: string | undefined
const listeners = new Set<() => void>()

function name(next: string | undefined) {
  named = next
  for (const listener of listeners) listener()
}

/** Names what this page shows in the title of the window, as soon as the name is known. */
export function usePageName(pageName: string | undefined) {
  useEffect(() => {
    name(pageName)
    return () => name(undefined)
  }, [pageName])
}

/** Keeps the title of the window: what the page shows, or else which page it is. */
export function useTitle(page: string | undefined) {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => named,
  )
  const first = shown ?? page
  useEffect(() => {
    document.title = first ? `${first} · Toolwright` : 'Toolwright'
  }, [first])
}
