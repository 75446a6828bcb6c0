declare module 'virtual:icons' {
  import type { LucideIconData } from 'lucide-react'

  /** The icons of Lucide by their names, by the first letter of the name. See `vite.config.ts`. */
  const letters: Record<string, () => Promise<{ default: Record<string, LucideIconData> }>>
  export default letters
}
