import {
  infiniteQueryOptions,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'

import { api, body } from '~/api/client'
import type { components } from '~/api/schema'

type Schemas = components['schemas']

/** A call that somebody has to answer. The description of the API cannot say what is inside of JSON. */
export type Asked = Omit<Schemas['PendingCallView'], 'input'> & { input: unknown }

interface Page {
  items: Asked[]
  next_cursor?: string | null
  total?: number | null
}

const LIVE_MS = 2_500
const PAGE = 50

/** Whether an answer is still taken, as far as the server has said. */
export function isOpen({ status }: Pick<Asked, 'status'>): boolean {
  return status === 'waiting' || status === 'pending'
}

/** What waits for a person, live, the oldest first. */
export const askedOfPeople = infiniteQueryOptions({
  queryKey: ['answers', 'list'],
  queryFn: async ({ pageParam }) => {
    const query = { limit: PAGE, cursor: pageParam }
    return (await body(api.GET('/api/pending-calls', { params: { query } }))) as unknown as Page
  },
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
  refetchInterval: LIVE_MS,
})

/** One call; watched until it is answered, because somebody else may do it. */
export const askedBy = (id: string) =>
  queryOptions({
    queryKey: ['answers', 'one', id],
    queryFn: async () => {
      const answer = api.GET('/api/pending-calls/{id}', { params: { path: { id } } })
      return (await body(answer)) as unknown as Asked
    },
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? LIVE_MS : false),
  })

/** What a person says: a result, or why there is none. */
export type Said = { result: unknown } | { error: string }

export function useAnswer({ id, run_id }: Pick<Asked, 'id' | 'run_id'>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (said: Said) => {
      const sent = { call_id: id, ...said } as Schemas['ToolResultRequest']
      const params = { path: { id: run_id } }
      return body(api.POST('/api/runs/{id}/tool-results', { params, body: sent }))
    },
    // Also after an error: someone else may have answered first, and every list should show it. But nobody waits for
    // that, or who cannot reach the server would be told so only after the lists have tried to.
    onSettled: (_, error) => {
      const read = Promise.all([
        queries.invalidateQueries({ queryKey: ['answers'] }),
        queries.invalidateQueries({ queryKey: ['runs'] }),
      ])
      return error ? undefined : read
    },
  })
}
