import { infiniteQueryOptions } from '@tanstack/react-query'

import { api, body } from '~/api/client'
import type { components } from '~/api/schema'

export type ToolItem = components['schemas']['ToolItem']

const PAGE = 200

/** Every tool one may see, page by page. Facets count over all of them, so all are read. */
export const libraryTools = infiniteQueryOptions({
  queryKey: ['tools', 'library'],
  queryFn: ({ pageParam }) =>
    body(api.GET('/api/tools', { params: { query: { limit: PAGE, cursor: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
  staleTime: 30_000,
})
