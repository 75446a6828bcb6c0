import type { Tool } from '../types'
import { type SavingOptions, useSaving } from './use-saving'
import { useTyped } from './use-typed'

interface Options extends SavingOptions {
  /** The tool that is edited; none while it is being made. */
  tool?: Tool
  /** The kind of a new one. */
  kind?: string
}

/** What is typed about a tool, and how it gets to the server. */
export function useEditor({ tool, kind, ...options }: Options) {
  const typed = useTyped(tool, kind)
  return { ...typed, ...useSaving(typed, options) }
}

export type Editor = ReturnType<typeof useEditor>
