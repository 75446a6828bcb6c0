import { useSyncExternalStore } from 'react'

const query = '(min-width: 48rem)'

/** Whether there is room for a table. */
export function useWide(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => matchMedia(query).matches,
  )
}
