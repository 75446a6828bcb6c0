import { createContext, use } from 'react'

import { canLayOver, type Key, partOf } from './definition'
import type { Editor } from './use-editor'

export interface Editing extends Editor {
  /** Whether only something is laid over a tool of the program. */
  isOverride: boolean
}

export const EditingContext = createContext<Editing | undefined>(undefined)

export function useEditing(): Editing {
  const editing = use(EditingContext)
  if (!editing) throw new Error('there is no editor around this')
  return editing
}

/** What a control of one part of the definition needs to know. */
export function usePart<K extends Key>(key: K) {
  const { definition, change, faults, isOverride } = useEditing()
  const fault = faults.find(({ path }) => partOf(path) === key)?.message
  const id = idOf(`/${key}`)
  return {
    id,
    value: definition[key],
    set: (value: (typeof definition)[K]) => change(key, value),
    fault,
    isFixed: isOverride && !canLayOver(key),
  }
}

/** The id of the control at a place in the definition. */
export function idOf(path: string): string {
  return `part${path.replaceAll('/', '-')}`
}
