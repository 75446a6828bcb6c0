import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, body } from '~/api/client'
import type { components } from '~/api/schema'
import { hasEnded } from '~/features/result/run-status'
import type { Actor } from './people'
import type { RunsSearch } from './search'
import { beginOf } from './time-range'

type Schemas = components['schemas']

/** A run, as recorded. The description of the API cannot say what is inside of JSON. */
export type Run = Omit<Schemas['RunRecord'], 'actor' | 'input' | 'output'> & {
  actor: Actor | null
  input: unknown
  output: unknown
  logs?: unknown
}

export type RunEvent = Omit<Schemas['EventView'], 'actor' | 'payload'> & {
  actor: Actor | null
  payload: Record<string, unknown>
}

interface Page<T> {
  items: T[]
  next_cursor?: string | null
  total?: number | null
}

const PAGE = 50
const HEAD = 200
const LIVE_MS = 2_000
const WATCH_MS = 3_000

type Filters = Omit<RunsSearch, 'live'>

async function read(
  filters: Filters,
  page: { limit: number; cursor?: string },
): Promise<Page<Run>> {
  const { range, ...query } = filters
  const since = range ? beginOf(range, Date.now()) : query.since
  const answer = api.GET('/api/runs', { params: { query: { ...query, since, ...page } } })
  return body(answer) as Promise<unknown> as Promise<Page<Run>>
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

/** The runs that a run started. */
export const childrenOf = (id: string, isOpen: boolean) =>
  queryOptions({
    queryKey: ['runs', 'children', id],
    queryFn: async () => {
      const query = { parent_run_id: id, limit: HEAD }
      const page = (await body(api.GET('/api/runs', { params: { query } }))) as unknown
      return (page as Page<Run>).items.toReversed()
    },
    refetchInterval: isOpen ? WATCH_MS : false,
  })

/** A tool whole, for its form and the way its outputs are shown. */
export const wholeTool = (slug: string) =>
  queryOptions({
    queryKey: ['tools', 'whole', slug],
    queryFn: () => body(api.GET('/api/tools/{tool}', { params: { path: { tool: slug } } })),
    staleTime: 30_000,
  })
