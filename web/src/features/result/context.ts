import { createContext, useContext } from 'react'

/** What every part of one output shares. */
export interface Around {
  currency?: string
  /** The first word of the names of files. */
  name: string
  /** The level of the headings of the parts. */
  level: 2 | 3 | 4
}

const Context = createContext<Around>({ name: 'result', level: 3 })

export const AroundOutput = Context.Provider

export function useAround(): Around {
  return useContext(Context)
}
