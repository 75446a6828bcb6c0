import { useMemo } from 'react'

import type { Shown } from './blocks'
import { AroundOutput } from './context'
import { Output } from './output'

interface Props {
  said: unknown
  tool?: Shown
  /** The level of the headings inside. */
  level: 3 | 4
}

/** The only thing in it, where an error was answered instead of a result. */
function errorIn(said: unknown) {
  const isAlone = typeof said === 'object' && said !== null && Object.keys(said).length === 1
  const error = isAlone && 'error' in said ? said.error : undefined
  return typeof error === 'string' ? error : undefined
}

/** What a worker or a person answered: a result, or why there is none. */
export function Said({ said, tool, level }: Props) {
  const error = errorIn(said)
  const around = useMemo(() => ({ name: tool?.slug ?? 'answer', level }), [tool, level])
  return error !== undefined ? (
    <p className="break-words whitespace-pre-wrap text-bad">{error}</p>
  ) : (
    <AroundOutput value={around}>
      <Output output={said} tool={tool} />
    </AroundOutput>
  )
}
