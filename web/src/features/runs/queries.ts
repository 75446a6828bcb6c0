import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'

import type { Actor } from '~/api/actor'
import { api, body } from '~/api/client'
import type { RunPage } from '~/api/runs'
import type { components } from '~/api/schema'
import type { RunsSearch } from './search'
import { beginOf } from './time-range'

export type RunEvent = Omit<components['schemas']['EventView'], 'actor' | 'payload'> & {
  actor: Actor | null
  payload: Record<string, unknown>
}

const PAGE = 50
const HEAD = 200
const LIVE_MS = 2_000

type Filters = Omit<RunsSearch, 'live'>

async function read(filters: Filters, page: { limit: number; cursor?: string }): Promise<RunPage> {
  const { range, status, ...rest } = filters
  const since = range ? beginOf(range, Date.now()) : rest.since
  const query = { ...rest, ...byStatus(status), since, ...page }
  const answer = api.GET('/api/runs', { params: { query } })
  return body(answer) as Promise<unknown> as Promise<RunPage>
}

/** To the server a denied run is one that was cancelled, and its code says why. */
export function byStatus(status: Filters['status']) {
  return status === 'denied' ? { error_code: 'DENIED' } : { status }
}

export const runsBy = (filters: Filters) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'list', filters],
    queryFn: ({ pageParam }) => read(filters, { limit: PAGE, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  })

/** The newest runs, asked for again and again: the live tail of a list. */
export const newestRuns = (filters: Filters) =>
  queryOptions({
    queryKey: ['runs', 'newest', filters],
    queryFn: () => read(filters, { limit: HEAD }),
    refetchInterval: LIVE_MS,
  })
