import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

import { api, body } from '~/api/client'
import { follow } from '~/api/events'
import { parse } from '~/api/exact'
import { hasEnded, type Run, runOf } from '~/api/runs'
import type { RunEvent } from './queries'

const PAGE = 200
const ENDS = new Set(['tool.completed', 'tool.failed', 'tool.cancelled'])

/** The events of one run. A session can hold many runs, so reading stops where this one ended. */
const eventsOf = ({ run_id, session_id }: Pick<Run, 'run_id' | 'session_id'>) =>
  queryOptions({
    queryKey: ['runs', 'events', run_id],
    queryFn: async () => {
      const found: RunEvent[] = []
      let after: number | undefined
      for (;;) {
        const params = { path: { id: session_id }, query: { after, limit: PAGE } }
        const page = await body(api.GET('/api/sessions/{id}/events', { params }))
        const events = page.items as unknown as RunEvent[]
        found.push(...events.filter((event) => event.run_id === run_id))
        const ended = found.some((event) => ENDS.has(event.type))
        if (ended || page.next_cursor == null) return found
        after = Number(page.next_cursor)
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Adds an event in its place; one that is there already changes nothing. */
export function withEvent(events: RunEvent[], event: RunEvent): RunEvent[] {
  if (events.some(({ id }) => id === event.id)) return events
  return [...events, event].sort((a, b) => a.seq - b.seq)
}

/** The events of a run, and while it has not ended those that come. */
export function useRunEvents(run: Run) {
  const queries = useQueryClient()
  const query = useQuery(eventsOf(run))
  const { run_id, session_id } = run
  const follows = query.isSuccess && !hasEnded(run.status)
  useEffect(() => {
    if (!follows) return
    const key = eventsOf({ run_id, session_id }).queryKey
    const last = queries.getQueryData(key)?.at(-1)?.seq ?? 0
    const stop = new AbortController()
    const path = `/api/sessions/${encodeURIComponent(session_id)}/events/stream?after=${last}`
    const stream = follow(path, stop.signal, ({ data }) => {
      const event = parse(data) as RunEvent
      if (event.run_id !== run_id) return
      queries.setQueryData(key, (events) => withEvent(events ?? [], event))
      void queries.invalidateQueries({ queryKey: runOf(run_id).queryKey })
    })
    // A refusal shows in the run itself, which is asked for all the while.
    stream.catch(() => undefined)
    return () => stop.abort()
  }, [follows, queries, run_id, session_id])
  return query
}
