import { oneOf, type Raw } from '~/api/search'

export const APPROVAL_STATES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const
export type ApprovalState = (typeof APPROVAL_STATES)[number]

export interface ApprovalsSearch {
  status?: ApprovalState
}

export const approvalsSearch = (raw: Raw): ApprovalsSearch => ({
  status: oneOf(raw, 'status', APPROVAL_STATES),
})
