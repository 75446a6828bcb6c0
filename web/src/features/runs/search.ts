import { oneOf, type Raw, text } from '~/api/search'
import { RANGES, type Range } from './time-range'

export const RUN_STATES = [
  'running',
  'success',
  'error',
  'pending',
  'needs_approval',
  'cancelled',
  'denied',
  'timed_out',
] as const
export const MODES = ['production', 'debug'] as const

export const SOURCES = ['web', 'agent', 'api', 'embed'] as const

/** Which runs are shown, by the filters of the API; `range` counts back from now. */
export interface RunsSearch {
  tool?: string
  status?: (typeof RUN_STATES)[number]
  source?: (typeof SOURCES)[number]
  mode?: (typeof MODES)[number]
  session_id?: string
  range?: Range
  since?: string
  until?: string
  /** Whether new runs appear by themselves. */
  live?: true
}

export const runsSearch = (raw: Raw): RunsSearch => ({
  tool: text(raw, 'tool'),
  status: oneOf(raw, 'status', RUN_STATES),
  source: oneOf(raw, 'source', SOURCES),
  mode: oneOf(raw, 'mode', MODES),
  session_id: text(raw, 'session_id'),
  range: oneOf(raw, 'range', RANGES),
  since: text(raw, 'since'),
  until: text(raw, 'until'),
  live: text(raw, 'live') === 'true' ? true : undefined,
})
