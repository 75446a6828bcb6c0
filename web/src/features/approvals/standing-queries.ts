import {
  infiniteQueryOptions,
  keepPreviousData,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'

import { api, body } from '~/api/client'
import type { components } from '~/api/schema'
import type { StandingState } from './search'

/** A yes that holds for later calls. The description of the API cannot say what is inside of JSON. */
export type StandingApproval = Omit<components['schemas']['StandingApprovalView'], 'values'> & {
  /** The values by their pointers, or the whole input where no fields are named. */
  values: unknown
}

interface Page {
  items: StandingApproval[]
  next_cursor?: string | null
  total?: number | null
}

const STANDING = ['standing-approvals']
const LIVE_MS = 5_000
const PAGE = 50

/** Standing approvals in one state, newest first. */
export const standingBy = (status: StandingState) =>
  infiniteQueryOptions({
    queryKey: [...STANDING, status],
    queryFn: async ({ pageParam }) => {
      const params = { query: { status, limit: PAGE, cursor: pageParam } }
      return (await body(api.GET('/api/standing-approvals', { params }))) as unknown as Page
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    // Every look reads all pages again, so many pages are looked at less often.
    refetchInterval: ({ state }) => LIVE_MS * Math.max(1, state.data?.pages.length ?? 1),
  })

export function useRevoke() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      api.DELETE('/api/standing-approvals/{id}', { params: { path: { id } } }),
    // Also after an error: somebody else may have taken it back.
    onSettled: () => void queries.invalidateQueries({ queryKey: STANDING }),
  })
}
