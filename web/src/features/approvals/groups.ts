import { varyingIn } from '~/features/form/read/digest'
import type { Approval } from './approval-queries'
import type { ApprovalsSearch } from './search'

/** Approvals that say the same sentence: one tool, one agent, one effect, one reason. */
export interface Group {
  key: string
  approvals: Approval[]
  /** The members in which their inputs differ. */
  varying: Set<string>
}

/** Puts together what differs in its input alone. A group stands where its oldest approval would. */
export function grouped(approvals: readonly Approval[]): Group[] {
  const groups = new Map<string, Approval[]>()
  for (const approval of approvals) {
    const { tool, version, requested_by, level, reason } = approval
    const key = JSON.stringify([tool, version, requested_by, level, reason])
    const group = groups.get(key)
    if (group) group.push(approval)
    else groups.set(key, [approval])
  }
  return [...groups].map(([key, approvals]) => ({
    key,
    approvals,
    varying: varyingIn(approvals.map(({ input }) => input)),
  }))
}

export function filtered(approvals: readonly Approval[], { tool, by }: ApprovalsSearch) {
  return approvals.filter(
    (approval) =>
      (tool === undefined || approval.tool === tool) &&
      (by === undefined || approval.requested_by === by),
  )
}

/** Whether a person may decide on it together with others. What cannot be undone is looked at one by one. */
export function canBatch({ status, level }: Pick<Approval, 'status' | 'level'>): boolean {
  return status === 'pending' && level !== 'destructive'
}

/** How often each word occurs, the most frequent first. */
export function counts(words: readonly string[]): [word: string, count: number][] {
  const found = new Map<string, number>()
  for (const word of words) found.set(word, (found.get(word) ?? 0) + 1)
  return [...found].sort(([a, left], [b, right]) => right - left || a.localeCompare(b))
}
