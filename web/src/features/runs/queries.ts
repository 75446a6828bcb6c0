import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, body } from '~/api/client'
import { Problem } from '~/api/problem'
import type { components } from '~/api/schema'
import { hasEnded } from '~/features/result/run-status'
import type { Actor } from './people'
import type { RunsSearch } from './search'
import { beginOf } from './time-range'
import { type TreeRun, tree } from './tree'

type Schemas = components['schemas']

/** A run, as recorded. The description of the API cannot say what is inside of JSON. */
export type Run = Omit<Schemas['RunRecord'], 'actor' | 'input' | 'output' | 'late_result'> & {
  actor: Actor | null
  input: unknown
  output: unknown
  logs?: unknown
  late_result?: unknown
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

/** The runs that a run started itself, in their order. What has ended starts none any more. */
const childrenOf = (id: string, hasEnded: boolean) =>
  queryOptions({
    queryKey: ['runs', 'children', id, hasEnded],
    queryFn: async () => {
      const query = { parent_run_id: id, limit: HEAD }
      const page = (await body(api.GET('/api/runs', { params: { query } }))) as unknown
      return (page as Page<Run>).items.toReversed()
    },
    staleTime: hasEnded ? Number.POSITIVE_INFINITY : 0,
  })

/** Everything that a run started, and what that started in turn. */
export const treeOf = ({ run_id, status }: { run_id: string; status: string }) =>
  queryOptions({
    queryKey: ['runs', 'tree', run_id, hasEnded(status)],
    queryFn: async ({ client }) => {
      const runs = await tree({ run_id, status }, (run) =>
        client.fetchQuery(childrenOf(run.run_id, hasEnded(run.status))),
      )
      // For whom a run waits stands only in the run itself.
      const whole = async (run: TreeRun) =>
        run.status === 'pending'
          ? { ...run, ...(await client.fetchQuery({ ...runOf(run.run_id), staleTime: 0 })) }
          : run
      return Promise.all(runs.map(whole))
    },
    placeholderData: keepPreviousData,
    refetchInterval: hasEnded(status) ? false : WATCH_MS,
  })

type Tool = Schemas['ToolView']

/**
 * A tool whole, as it was in a version, for its form and the way its outputs are shown. Authors read
 * what was saved last, which need not be what runs; the history has that. A test ran what was saved last.
 */
export const toolAt = (slug: string, version: string, mode = 'production') =>
  queryOptions({
    queryKey: ['tools', 'at', slug, version, mode],
    queryFn: async () => {
      const path = { tool: slug }
      const tool = await body(api.GET('/api/tools/{tool}', { params: { path } }))
      if (mode === 'debug' || (!tool.has_draft && tool.version === version)) return tool
      const revision = await publishedAs(slug, version)
      if (revision === undefined) return tool
      const params = { path: { tool: slug, revision } }
      const then = await body(api.GET('/api/tools/{tool}/versions/{revision}', { params }))
      const { name, input_schema, output_schema, form_spec, view_spec, output_sections } =
        then.snapshot as unknown as Tool
      const schemas = { input_schema, output_schema: output_schema ?? null }
      return { ...tool, name, ...schemas, form_spec, view_spec, output_sections }
    },
    staleTime: 30_000,
  })

/** The revision that was last published under a version, if it is among the newest and can be read. */
async function publishedAs(slug: string, version: string): Promise<number | undefined> {
  const params = { path: { tool: slug }, query: { kind: 'publish', limit: HEAD } } as const
  try {
    const { items } = await body(api.GET('/api/tools/{tool}/versions', { params }))
    return items.find((item) => item.version === version)?.revision
  } catch (error) {
    // Not everybody may read the history; the tool as it is has to do.
    if (error instanceof Problem && error.status >= 400 && error.status < 500) return undefined
    throw error
  }
}
