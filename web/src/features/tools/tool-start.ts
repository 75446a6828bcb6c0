import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { api, body } from '~/api/client'
import { Problem } from '~/api/problem'
import type { Answer } from './queries'

/** Most tools are done by then; the others are followed from there on. */
const WAIT_MS = 1_000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 5_000

/** How starting a run goes: `lost` while the server cannot be reached and is asked again. */
export interface Start {
  state: 'idle' | 'asking' | 'lost'
  error?: unknown
}

/**
 * Starts runs, one at a time. Every press of the button has one key, under which the server runs the
 * tool once, however often it has to be asked.
 */
export function useStart(slug: string, onStarted: (answer: Answer, input: unknown) => void) {
  const queries = useQueryClient()
  const [start, setStart] = useState<Start>({ state: 'idle' })
  const asking = useRef<AbortController>(null)
  useEffect(() => () => asking.current?.abort(), [])

  const run = async (input: unknown) => {
    // State comes too late for the second click of a double click.
    if (asking.current) return
    const control = new AbortController()
    asking.current = control
    setStart({ state: 'asking' })
    try {
      const onLost = () => setStart({ state: 'lost' })
      const answer = await ask(slug, input, control.signal, onLost)
      if (control.signal.aborted) return
      setStart({ state: 'idle' })
      onStarted(answer, input)
    } catch (error) {
      if (!control.signal.aborted) setStart({ state: 'idle', error })
    } finally {
      if (asking.current === control) asking.current = null
      void queries.invalidateQueries({ queryKey: ['runs'] })
    }
  }
  const giveUp = () => {
    asking.current?.abort()
    asking.current = null
    setStart({ state: 'idle' })
  }
  const forget = () => setStart(({ state }) => ({ state }))
  return { start, run, giveUp, forget }
}

async function ask(
  slug: string,
  input: unknown,
  signal: AbortSignal,
  onLost: () => void,
): Promise<Answer> {
  const key = newKey()
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await body(
        api.POST('/api/tools/{tool}/run', {
          params: { path: { tool: slug }, header: { 'Idempotency-Key': key } },
          body: { input: input as Record<string, never>, wait_ms: WAIT_MS },
          signal,
        }),
      )
    } catch (error) {
      if (signal.aborted || !canAskAgain(error)) throw error
      onLost()
      await new Promise((done) => setTimeout(done, pause))
      if (signal.aborted) throw error
    }
  }
}

/** Whether nobody answered who knows what came of it: no server, one that starts or stops, a proxy. */
export function canAskAgain(error: unknown): boolean {
  if (!(error instanceof Problem)) return false
  if (error.status === 0 || error.code === 'IDEMPOTENCY_IN_FLIGHT') return true
  return (
    [502, 503, 504].includes(error.status) || (error.status === 500 && error.code === 'UNKNOWN')
  )
}

/** `randomUUID` is missing on pages that came over plain HTTP from another machine. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
