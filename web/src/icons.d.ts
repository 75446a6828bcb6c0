declare module 'virtual:icons' {
  import type { LucideIconData } from 'lucide-react'

  /** The icons of Lucide by their names, by the first letter of the name. See `vite.config.ts`. */
  const letters: Record<string, () => Promise<{ default: Record<string, LucideIconData> }>>
  export default letters
}

declare module 'virtual:icons/names' {
  /** The name of every icon, and behind spaces the names that it had before. */
  const names: string[]
  export default names
}
