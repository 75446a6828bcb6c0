import { useRef, useState } from 'react'

import { stringify } from '~/api/exact'
import { useMe } from '~/api/me'
import { useKept } from '~/kit/kept'
import type { ToolSearch } from './search'

interface Typed {
  input: unknown
  /** The run that the address named meanwhile. */
  run?: string
}

/**
 * What a person typed into the form of a tool and may come back to. An address that asks for another
 * input, by a link or by the run that it names, goes before it.
 */
export function useTyped(slug: string, { input, run }: ToolSearch, runnable: boolean) {
  const { principal, tenant } = useMe()
  const [kept, setKept] = useKept<Typed>(`tool-input:${tenant.slug}:${principal.user_id}:${slug}`)
  const wanted = runnable && input === undefined && (run === undefined || run === kept?.run)
  const [restored, setRestored] = useState(wanted ? kept?.input : undefined)
  const start = useRef<unknown>({})
  const forget = () => {
    setKept(undefined)
    setRestored(undefined)
  }
  return {
    /** What the form starts with, until something else takes its place. */
    restored,
    /** Takes what the form holds now. What it holds of its own accord is what an untouched form holds. */
    keep: (next: unknown, byHand: boolean) => {
      if (!byHand) {
        if (restored === undefined) start.current = next
      } else if (stringify(next) === stringify(start.current)) forget()
      else setKept({ input: next, run })
    },
    /** The form holds something else, by the will of the person. */
    replace: () => setRestored(undefined),
    forget,
  }
}
