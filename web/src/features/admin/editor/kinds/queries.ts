import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, body } from '~/api/client'

/** What a tool of the kind `internal` can be made of. */
export const builtins = queryOptions({
  queryKey: ['admin', 'builtins'],
  queryFn: async () => (await body(api.GET('/api/tools/builtins/templates'))).items,
  staleTime: 300_000,
})

/** Tools that a step can call, by what is typed. */
export const catalogue = (q: string) =>
  queryOptions({
    queryKey: ['admin', 'tools', 'to-call', q],
    queryFn: async () => {
      const query = { q: q || undefined, limit: 50 }
      return (await body(api.GET('/api/tools', { params: { query } }))).items
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
