import { queryOptions } from '@tanstack/react-query'

import { api, body } from '~/api/client'

/** What waits for a decision. Asked again now and then, so that the badge is true on every page. */
export const pendingApprovals = queryOptions({
  queryKey: ['approvals', 'pending'],
  queryFn: () => body(api.GET('/api/approvals')),
  refetchInterval: 5_000,
})
