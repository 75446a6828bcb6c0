import { queryOptions } from '@tanstack/react-query'

import { api, body } from './client'

// Alone in this file: the badges are on every page, and the first load should carry no more than it needs.

const WATCH_MS = 5_000

/** What waits for a decision. Asked again now and then, so that the badge is true on every page. */
export const pendingApprovals = queryOptions({
  queryKey: ['approvals', 'pending'],
  queryFn: () => body(api.GET('/api/approvals')),
  refetchInterval: WATCH_MS,
})

/** What waits for a person's answer. Asked again now and then, so that the badge is true on every page. */
export const pendingAnswers = queryOptions({
  queryKey: ['answers', 'pending'],
  queryFn: () => body(api.GET('/api/pending-calls')),
  refetchInterval: WATCH_MS,
})
