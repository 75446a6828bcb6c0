import { useSyncExternalStore } from 'react'

export type Theme = 'light' | 'dark'

const root = document.documentElement

/** The theme shown now. `theme.js` set it before the first paint. */
export function useTheme(): Theme {
  return useSyncExternalStore(
    (listener) => {
      const observer = new MutationObserver(listener)
      observer.observe(root, { attributeFilter: ['class'] })
      return () => observer.disconnect()
    },
    () => (root.classList.contains('dark') ? 'dark' : 'light'),
  )
}

const system = matchMedia('(prefers-color-scheme: dark)')

/** Shows what the system shows from now on, too, as long as nobody has chosen a theme. */
export function followSystem() {
  system.addEventListener('change', ({ matches }) => {
    if (localStorage.getItem('theme') === null) root.classList.toggle('dark', matches)
  })
}

/** Shows a theme and remembers it in this browser; without one the system's counts again. */
export function showTheme(theme: Theme | 'system') {
  if (theme === 'system') localStorage.removeItem('theme')
  else localStorage.setItem('theme', theme)
  const dark = theme === 'system' ? system.matches : theme === 'dark'
  root.classList.toggle('dark', dark)
}
