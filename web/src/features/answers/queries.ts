import { queryOptions } from '@tanstack/react-query'

import { api, body } from '~/api/client'

// Alone in its file, as its neighbour in approvals: the badge is on every page.
/** What waits for a person's answer. Asked again now and then, so that the badge is true on every page. */
export const pendingAnswers = queryOptions({
  queryKey: ['answers', 'pending'],
  queryFn: () => body(api.GET('/api/pending-calls')),
  refetchInterval: 5_000,
})
