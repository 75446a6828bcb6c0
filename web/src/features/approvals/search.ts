import { oneOf, type Raw, text } from '~/api/search'

export const APPROVAL_STATES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const
export type ApprovalState = (typeof APPROVAL_STATES)[number]

export const STANDING_STATES = ['active', 'expired', 'revoked', 'void', 'all'] as const
export type StandingState = (typeof STANDING_STATES)[number]

export interface StandingSearch {
  status?: StandingState
}

export const standingSearch = (raw: Raw): StandingSearch => ({
  status: oneOf(raw, 'status', STANDING_STATES),
})

export interface ApprovalsSearch {
  status?: ApprovalState
  /** The slug of a tool. */
  tool?: string
  /** Who asks, in one word, such as `agent:analyst`. */
  by?: string
}

export const approvalsSearch = (raw: Raw): ApprovalsSearch => ({
  status: oneOf(raw, 'status', APPROVAL_STATES),
  tool: text(raw, 'tool'),
  by: text(raw, 'by'),
})
