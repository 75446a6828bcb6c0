import { queryOptions } from '@tanstack/react-query'

import { api, body } from '~/api/client'

// Alone in its file: the badge is on every page, and the first load should carry no more than it needs.
/** What waits for a decision. Asked again now and then, so that the badge is true on every page. */
export const pendingApprovals = queryOptions({
  queryKey: ['approvals', 'pending'],
  queryFn: () => body(api.GET('/api/approvals')),
  refetchInterval: 5_000,
})
