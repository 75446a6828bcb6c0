import type { Tool, Version } from '../types'
import type { CaseResult, TestCase } from './queries'

/** How a test case stands: `outdated` where the tool was changed since it ran. */
export type CaseState = 'passed' | 'failed' | 'outdated' | 'not_run'

/** The content of what was saved last, as the history of the tool names it. */
export function contentOf(tool: Pick<Tool, 'revision'>, entries: readonly Version[]) {
  return entries.find(({ revision }) => revision === tool.revision)?.content_hash
}

/** How a case stands: by what came of it just now, else by what the server remembers of this content. */
export function stateOf(
  { last_result }: Pick<TestCase, 'last_result'>,
  content: string | undefined,
  now?: CaseResult,
): CaseState {
  if (now) return now.passed ? 'passed' : 'failed'
  if (!last_result) return 'not_run'
  if (last_result.content_hash !== content) return 'outdated'
  return last_result.passed ? 'passed' : 'failed'
}
