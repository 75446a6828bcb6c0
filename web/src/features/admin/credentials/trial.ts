import { api, body } from '~/api/client'
import type { components } from '~/api/schema'

/** How trying a credential went. */
export type Trial = components['schemas']['TrialView']

/** Sends a credential along with one request, and says whether the service took it. */
export function tryOut(id: string, url: string, header?: string): Promise<Trial> {
  const params = { path: { id } }
  return body(api.POST('/api/credentials/{id}/test', { params, body: { url, header } }))
}

export type Verdict = 'taken' | 'refused' | 'elsewhere' | 'unclear' | 'unanswered'

/** What an answer says about the credential. */
export function verdictOf({ ok, status }: Trial): Verdict {
  if (status === null || status === undefined) return 'unanswered'
  if (ok) return 'taken'
  if (status === 401 || status === 403) return 'refused'
  return status >= 300 && status < 400 ? 'elsewhere' : 'unclear'
}
