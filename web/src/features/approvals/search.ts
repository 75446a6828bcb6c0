import { oneOf, type Raw } from '~/api/search'

export const APPROVAL_STATES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const

export interface ApprovalsSearch {
  status?: (typeof APPROVAL_STATES)[number]
}

export const approvalsSearch = (raw: Raw): ApprovalsSearch => ({
  status: oneOf(raw, 'status', APPROVAL_STATES),
})
