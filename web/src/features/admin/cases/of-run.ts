import type { Run } from '~/api/runs'
import type { Expectation } from './expect'
import type { SentCase } from './queries'

/** A test case that expects of a tool what a run got of it. More members than there were may come. */
export function caseOf(run: Run, name: string): SentCase {
  return { name, input: run.input ?? {}, expect: expectationOf(run) }
}

function expectationOf({ status, output, error_code }: Run): Expectation {
  if (status !== 'success') return error_code ? { status, error_code } : { status }
  if (output == null) return { status }
  // A list contains another with fewer entries; whoever wants that takes it out of the text.
  return typeof output === 'object' && !Array.isArray(output) ? { contains: output } : { output }
}
