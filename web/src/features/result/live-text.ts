import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'

import { follow, type StreamEvent } from '~/api/events'

/** Of a tool that writes without end, the end is kept. */
const KEPT = 50_000

/**
 * Follows an open run by its session: resolves to what the tool has written so far. Whatever else
 * happens to the run makes the page read it again.
 */
export function useLiveText(run: { run_id: string; session_id: string } | undefined): string {
  const queries = useQueryClient()
  const [live, setLive] = useState({ id: '', text: '' })
  const id = run?.run_id
  const session = run?.session_id
  const hear = useEffectEvent((event: StreamEvent) => {
    const heard = id && read(event, id)
    if (!heard) return
    if (heard.text === undefined) void queries.invalidateQueries({ queryKey: ['runs'] })
    else setLive((before) => append(before, id, heard.text ?? ''))
  })
  useEffect(() => {
    if (!id || !session) return
    const control = new AbortController()
    setLive({ id, text: '' })
    // Who may not read the session still sees the run, which is asked for now and then.
    follow(`/api/sessions/${session}/events/stream`, control.signal, (event) => hear(event)).catch(
      () => undefined,
    )
    return () => control.abort()
  }, [id, session])
  return live.id === id ? live.text : ''
}

/** What an event says about a run: a piece of text, or just that something happened. */
export function read({ type, data }: StreamEvent, id: string): { text?: string } | undefined {
  try {
    const { run_id, payload } = JSON.parse(data)
    if (run_id !== id) return undefined
    if (type !== 'tool.output_appended') return {}
    return { text: typeof payload?.text === 'string' ? payload.text : '' }
  } catch {
    return undefined
  }
}

function append(before: { id: string; text: string }, id: string, text: string) {
  return { id, text: ((before.id === id ? before.text : '') + text).slice(-KEPT) }
}
