import { createContext, use } from 'react'

import type { Step } from '~/features/form/schema/pointer'
import { at } from '~/features/form/schema/pointer'
import { canLayOver, type Key, partOf } from './definition'
import { faultsBelow, pathOf } from './inside'
import type { Editor } from './use-editor'
import type { Inside } from './use-typed'

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

/** What a control of something inside of a part needs to know. A fault further inside is told here, too. */
export function useInside(key: Inside, steps: Step[]) {
  const { definition, changeAt, faults, isOverride } = useEditing()
  const path = pathOf(key, steps)
  return {
    id: idOf(path),
    path,
    value: at(definition[key], steps),
    set: (value: unknown) => changeAt(key, steps, value),
    fault: faultsBelow(faults, path),
    isFixed: isOverride,
  }
}

/** The id of the control at a place in the definition. */
export function idOf(path: string): string {
  // Names may have spaces, and what refers to several ids has spaces between them.
  return `part${path.replaceAll('/', '-').replace(/\s/g, '_')}`
}
