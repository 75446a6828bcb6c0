import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import { api, body, queryClient } from '~/api/client'
import type { Fault } from '~/api/problem'
import { isSameSlug } from './editor/slug'
import type { ToolsAdminSearch } from './search'
import type { Comparison, Explanation, SavedTool, Tool, User } from './types'

const PAGE = 100

export const TOOLS = ['admin', 'tools'] as const

export const toolsOf = ({ q, kind, status }: ToolsAdminSearch) =>
  infiniteQueryOptions({
    queryKey: [...TOOLS, { q, kind, status }],
    queryFn: ({ pageParam }) =>
      body(
        api.GET('/api/tools', {
          params: { query: { q, kind, status, limit: PAGE, cursor: pageParam } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

/** A tool as its authors see it: what was saved last. */
export const toolOf = (slug: string) =>
  queryOptions({
    queryKey: ['admin', 'tool', slug],
    queryFn: () => body(api.GET('/api/tools/{tool}', { params: { path: { tool: slug } } })),
  })

/** Whether there is a tool of this name already. */
export const isTaken = (slug: string) =>
  queryOptions({
    queryKey: ['admin', 'taken', slug],
    queryFn: async () => {
      const query = { q: slug, limit: 200 }
      const { items } = await body(api.GET('/api/tools', { params: { query } }))
      return items.some((tool) => isSameSlug(tool.slug, slug))
    },
  })

interface Warnings {
  /** The save that they are about. */
  revision: number
  faults: Fault[]
}

/** What would keep a tool from being published, as its last save told. Only a save tells it. */
export const warningsOf = (slug: string) =>
  queryOptions({
    queryKey: ['admin', 'warnings', slug],
    queryFn: (): Warnings => ({ revision: 0, faults: [] }),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Remembers what a save warned of. */
export function keepWarnings({ warnings, ...tool }: SavedTool): Tool {
  const kept = { revision: tool.revision, faults: warnings as unknown as Fault[] }
  queryClient.setQueryData(warningsOf(tool.slug).queryKey, kept)
  return tool
}

export const versionsOf = (slug: string) =>
  infiniteQueryOptions({
    queryKey: ['admin', 'tool', slug, 'versions'],
    queryFn: ({ pageParam }) =>
      body(
        api.GET('/api/tools/{tool}/versions', {
          params: { path: { tool: slug }, query: { limit: PAGE, cursor: pageParam } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

export const revisionOf = (slug: string, revision: number) =>
  queryOptions({
    queryKey: ['admin', 'revision', slug, revision],
    queryFn: () =>
      body(
        api.GET('/api/tools/{tool}/versions/{revision}', {
          params: { path: { tool: slug, revision } },
        }),
      ),
  })

export const comparisonOf = (slug: string, from: string, to: string) =>
  queryOptions({
    queryKey: ['admin', 'tool', slug, 'compare', from, to],
    queryFn: async () => {
      const query = { from, to }
      const answer = api.GET('/api/tools/{tool}/versions/compare', {
        params: { path: { tool: slug }, query },
      })
      return (await body(answer)) as unknown as Comparison
    },
  })

export const usersOf = (slug: string) =>
  queryOptions({
    queryKey: ['admin', 'tool', slug, 'used-by'],
    queryFn: async () => {
      const answer = await body(
        api.GET('/api/tools/{tool}/used-by', { params: { path: { tool: slug } } }),
      )
      return answer.items as unknown as User[]
    },
  })

/** Whom a question about a tool is about: `me`, `user:<id>` or `key:<id>`. */
export const explanationOf = (slug: string, subject: string) =>
  queryOptions({
    queryKey: ['admin', 'tool', slug, 'explain', subject],
    queryFn: async () => {
      const [kind, id] = subject.split(':')
      const query = { user: kind === 'user' ? id : undefined, key: kind === 'key' ? id : undefined }
      const answer = api.GET('/api/tools/{tool}/explain', {
        params: { path: { tool: slug }, query },
      })
      return (await body(answer)) as unknown as Explanation
    },
  })

export const people = queryOptions({
  queryKey: ['admin', 'people'],
  queryFn: () => body(api.GET('/api/users', { params: { query: { limit: 200 } } })),
  staleTime: 60_000,
})

export const keys = queryOptions({
  queryKey: ['admin', 'keys'],
  queryFn: () => body(api.GET('/api/api-keys', { params: { query: { limit: 200 } } })),
  staleTime: 60_000,
})

/** Reads again whatever a change of a tool can have changed, here and in the library. */
export async function toolChanged(slug: string): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: TOOLS }),
    queryClient.invalidateQueries({ queryKey: ['admin', 'tool', slug] }),
    queryClient.invalidateQueries({ queryKey: ['tools'] }),
    queryClient.invalidateQueries({ queryKey: ['tool', slug] }),
  ])
}
