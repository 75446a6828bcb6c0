import { createContext, useContext } from 'react'

import type { Json } from '../schema/json'
import { isJson } from '../schema/json'
import type { Step } from '../schema/pointer'
import type { Section } from '../schema/spec'
import type { FieldLook } from '../schema/ui'
import type { Visibility } from '../schema/visible'

export interface Scope {
  visible: Visibility
  sections: Section[]
  /** The schema as the form is drawn from it. */
  schema: Json
}

export const ScopeContext = createContext<Scope>({
  visible: () => true,
  sections: [],
  schema: {},
})

export function useScope(): Scope {
  return useContext(ScopeContext)
}

/**
 * What the form holds now, for those whose looks depend on it. It stands apart, because whoever reads
 * it is drawn again at every key.
 */
export const ValueContext = createContext<unknown>(undefined)

/** What the list around an item is called. */
export const ListContext = createContext('')

/** Whether a field is shown. */
export function useShown(path: readonly Step[], look: FieldLook): boolean {
  const value = useContext(ValueContext)
  const { visible } = useScope()
  return !look.concealed && visible(path, value)
}

export function lookOf(uiSchema: unknown): FieldLook {
  const look = isJson(uiSchema) ? uiSchema['ui:look'] : undefined
  return isJson(look) ? (look as FieldLook) : {}
}

/** The columns of the table around a field, by the names of the fields. */
export const ColumnsContext = createContext<readonly string[] | undefined>(undefined)

/** Whether the fields of the object around stand beside each other. */
export const LineContext = createContext(false)

/** How deep the choice stands around which a branch is drawn. */
export const ChoiceContext = createContext<number | undefined>(undefined)

/** After the next paint, when what a click has changed is there. */
export function afterwards(act: () => void) {
  setTimeout(act)
}

/** Puts the focus on what can be used; answers whether it could. */
export function focus(id: string): boolean {
  const element = document.getElementById(id)
  if (!element || element.matches(':disabled, [aria-disabled="true"]')) return false
  element.focus()
  return true
}
