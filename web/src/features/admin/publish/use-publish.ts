import { useMutation } from '@tanstack/react-query'

import { api, body } from '~/api/client'
import { Problem } from '~/api/problem'
import type { CaseReport } from '../cases/queries'
import { toolChanged } from '../queries'
import type { Comparison, Tool } from '../types'

/** What somebody decides about a publication. */
export interface Publication {
  /** Another number than the draft has. */
  version?: string
  accept_breaking?: true
  ignore_tests?: true
}

export function usePublish(tool: Tool, onPublished: (published: Tool) => void) {
  return useMutation({
    mutationFn: (publication: Publication) => {
      const params = { path: { tool: tool.slug }, header: { 'If-Match': tool.etag } }
      return body(api.POST('/api/tools/{tool}/publish', { params, body: publication }))
    },
    onSuccess: onPublished,
    // Also after an error: the draft, what runs or the results of the test cases may be others by now.
    onSettled: () => void toolChanged(tool.slug),
  })
}

/** What a refused publication is about: each has its place in the dialog. */
export interface Refusal {
  /** What the draft would break. */
  breaking?: Comparison
  /** How the test cases went. */
  tests?: CaseReport
  /** Why the number cannot be had. */
  number?: Problem
  /** Somebody else has changed the tool since it was read. */
  isStale?: boolean
  /** Faults of the draft. */
  draft?: Problem
  other?: unknown
}

export function refusalOf(error: unknown): Refusal {
  if (error === null || error === undefined) return {}
  if (!(error instanceof Problem)) return { other: error }
  if (error.code === 'BREAKING_CHANGE') return { breaking: error.members as unknown as Comparison }
  if (error.code === 'TESTS_FAILED') return { tests: error.members as unknown as CaseReport }
  if (error.status === 412) return { isStale: true }
  if (error.status === 409 && error.code === 'CONFLICT') return { number: error }
  if (error.errors.some(({ path }) => path === '/version')) return { number: error }
  return error.status === 422 && error.errors.length > 0 ? { draft: error } : { other: error }
}
