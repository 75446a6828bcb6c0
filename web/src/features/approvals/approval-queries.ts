import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'

import { api, body } from '~/api/client'
import type { components } from '~/api/schema'
import type { Change } from './diff'
import type { ApprovalState } from './search'
import type { StandingWish } from './standing'

/** What a person is asked to decide. The description of the API cannot say what is inside of JSON. */
export type Approval = Omit<components['schemas']['ApprovalView'], 'input' | 'changes'> & {
  input: unknown
  changes?: Change[] | null
}

interface Page {
  items: Approval[]
  next_cursor?: string | null
  total?: number | null
}

const LIVE_MS = 2_500
const PAGE = 50

async function read(query: {
  status: ApprovalState
  limit: number
  offset?: number
}): Promise<Page> {
  return (await body(api.GET('/api/approvals', { params: { query } }))) as unknown as Page
}

/**
 * Approvals in one state, live. Those that wait come oldest first, for they are the most urgent; those
 * that are decided newest first, so they are read from the end of what the API lists.
 */
export const approvalsBy = (status: ApprovalState) =>
  infiniteQueryOptions({
    queryKey: ['approvals', 'list', status],
    queryFn: async ({ pageParam }) => {
      if (status === 'pending') {
        const offset = pageParam ?? 0
        const page = await read({ status, limit: PAGE, offset })
        const next = page.next_cursor == null ? undefined : offset + PAGE
        return { items: page.items, total: page.total, next }
      }
      const total = pageParam ?? (await read({ status, limit: 1 })).total ?? PAGE
      const offset = Math.max(0, total - PAGE)
      const page = await read({ status, limit: Math.max(1, total - offset), offset })
      const next = offset > 0 ? offset : undefined
      return { items: page.items.toReversed(), total: page.total, next }
    },
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    // Every look reads all pages again, so many pages are looked at less often.
    refetchInterval: ({ state }) => LIVE_MS * Math.max(1, state.data?.pages.length ?? 1),
  })

/** One approval; watched until it is decided, because somebody else may do it. */
export const approvalOf = (id: string) =>
  queryOptions({
    queryKey: ['approvals', 'one', id],
    queryFn: async () => {
      const answer = api.GET('/api/approvals/{id}', { params: { path: { id } } })
      return (await body(answer)) as unknown as Approval
    },
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? LIVE_MS : false),
  })

export interface Decision {
  kind: 'approve' | 'deny'
  note: string
  /** Another input than the one asked for. */
  input?: unknown
  /** Later calls that are approved as well. */
  standing?: StandingWish
}

/** Sends a decision; the answer is the run. */
export async function decideOn(id: string, decision: Decision, wait_ms?: number) {
  const { kind, note: typed, input, standing } = decision
  const params = { path: { id } }
  const note = typed.trim() || null
  if (kind === 'deny') {
    return body(api.POST('/api/approvals/{id}/deny', { params, body: { note } }))
  }
  const changed = input === undefined ? {} : { input: input as Record<string, never> }
  const approve = { note, wait_ms, ...changed, ...(standing && { standing }) }
  return body(api.POST('/api/approvals/{id}/approve', { params, body: approve }))
}

export function useDecide(id: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (decision: Decision) => decideOn(id, decision),
    // Also after an error: someone else may have decided first, and every list should show it. But nobody waits for
    // that, or who cannot reach the server would be told so only after the lists have tried to.
    onSettled: (_, error) => {
      const read = Promise.all([
        queries.invalidateQueries({ queryKey: ['approvals'] }),
        queries.invalidateQueries({ queryKey: ['runs'] }),
        queries.invalidateQueries({ queryKey: ['standing-approvals'] }),
      ])
      return error ? undefined : read
    },
  })
}
