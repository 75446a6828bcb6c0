import { queryOptions } from '@tanstack/react-query'

import type { Actor } from './actor'
import { api, body } from './client'
import type { components } from './schema'

/** A run, as recorded. The description of the API cannot say what is inside of JSON. */
export type Run = Omit<
  components['schemas']['RunRecord'],
  'actor' | 'input' | 'output' | 'late_result'
> & {
  actor: Actor | null
  input: unknown
  output: unknown
  logs?: unknown
  late_result?: unknown
}

export interface RunPage {
  items: Run[]
  next_cursor?: string | null
  total?: number | null
}

/** The states in which a run is over. */
const ENDED = new Set(['success', 'error', 'cancelled', 'timed_out'])

interface Lasting {
  started_at?: string | null
  finished_at?: string | null
  duration_ms?: number | null
}

/** A run that waits for a person or for another run is not at work meanwhile; less than this is told as one time. */
const WAIT_TOLD_MS = 500

/** How long a run took from its start to its end, where that is more than the time in which it was at work. */
export function tookInAll({ started_at, finished_at, duration_ms }: Lasting): number | undefined {
  if (!started_at || !finished_at || duration_ms == null) return undefined
  const all = Date.parse(finished_at) - Date.parse(started_at)
  return all - duration_ms > WAIT_TOLD_MS ? all : undefined
}

export function hasEnded(status: string): boolean {
  return ENDED.has(status)
}

/** How often a run that goes on is read again. */
export const WATCH_MS = 3_000

/** One run; watched until it has ended. */
export const runOf = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'one', id],
    queryFn: async () => {
      const answer = api.GET('/api/runs/{id}', { params: { path: { id } } })
      return (await body(answer)) as unknown as Run
    },
    refetchInterval: ({ state }) => (state.data && !hasEnded(state.data.status) ? WATCH_MS : false),
  })

const RECENT = 200

/**
 * The newest runs that one may see, of all tools together: for health, and for what was used last. What an author tries
 * says nothing about either.
 */
export const recentRuns = queryOptions({
  queryKey: ['runs', 'recent'],
  queryFn: () => {
    const query = { limit: RECENT, mode: 'production' } as const
    return body(api.GET('/api/runs', { params: { query } }))
  },
  staleTime: 15_000,
  select: (page) => page.items,
})
