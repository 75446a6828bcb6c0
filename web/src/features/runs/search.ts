import { type Raw, text } from '~/api/search'

/** Which runs are shown, by the filters of the API. */
export interface RunsSearch {
  tool?: string
  status?: string
  source?: string
  session_id?: string
  since?: string
  until?: string
}

export const runsSearch = (raw: Raw): RunsSearch => ({
  tool: text(raw, 'tool'),
  status: text(raw, 'status'),
  source: text(raw, 'source'),
  session_id: text(raw, 'session_id'),
  since: text(raw, 'since'),
  until: text(raw, 'until'),
})
