import { queryOptions, useMutation } from '@tanstack/react-query'

import { api, body, queryClient } from '~/api/client'
import type { components } from '~/api/schema'
import type { Expectation } from './expect'

type Schemas = components['schemas']

/** A test case of a tool. The description of the API cannot say what is inside of JSON. */
export type TestCase = Omit<Schemas['TestCaseView'], 'input' | 'expect'> & {
  input: unknown
  expect: Expectation
}

/** What is sent to make a test case or to change one. */
export interface SentCase {
  name: string
  input: unknown
  expect: Expectation
}

export type CaseResult = Schemas['TestCaseResult']
export type CaseDiff = Schemas['TestDiff']
export type CaseReport = Schemas['TestReport']

/** As many as a tool may have. */
const ALL = 100

/** All test cases of a tool, oldest first. */
export const casesOf = (slug: string) =>
  queryOptions({
    queryKey: ['admin', 'tool', slug, 'cases'],
    queryFn: async () => {
      const params = { path: { tool: slug }, query: { limit: ALL } }
      const { items } = await body(api.GET('/api/tools/{tool}/tests', { params }))
      return items as unknown as TestCase[]
    },
  })

const changed = (slug: string) =>
  queryClient.invalidateQueries({ queryKey: casesOf(slug).queryKey })

/** Makes a test case, or changes the one with this id. */
export function useSaveCase(slug: string, id: string | undefined) {
  return useMutation({
    mutationFn: async (sent: SentCase) => {
      const tool = slug
      const whole = sent as unknown as Schemas['CreateTestCase']
      const saved = id
        ? api.PATCH('/api/tools/{tool}/tests/{id}', { params: { path: { tool, id } }, body: whole })
        : api.POST('/api/tools/{tool}/tests', { params: { path: { tool } }, body: whole })
      return (await body(saved)) as unknown as TestCase
    },
    onSuccess: () => changed(slug),
  })
}

export function useRemoveCase(slug: string, id: string) {
  return useMutation({
    mutationFn: () =>
      api.DELETE('/api/tools/{tool}/tests/{id}', { params: { path: { tool: slug, id } } }),
    // Also after an error: somebody else may have removed it.
    onSettled: () => void changed(slug),
  })
}

export interface Trial {
  /** The number of a version; the draft without one. */
  against?: string
  /** Which cases; all without any. */
  ids?: string[]
}

/** Runs test cases, and says how each went. */
export function useRunCases(slug: string) {
  return useMutation({
    mutationFn: (trial: Trial) =>
      body(
        api.POST('/api/tools/{tool}/tests/run', { params: { path: { tool: slug } }, body: trial }),
      ),
    onSuccess: () => changed(slug),
  })
}
