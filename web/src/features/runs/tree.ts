import type { Run } from './queries'

/** A run inside of another one, and how deep. */
export type TreeRun = Run & { depth: number }

/** As deep as calls may go, and as many as can be looked at. */
const DEEPEST = 8
const MOST = 200

type Node = Pick<Run, 'run_id' | 'status'>

/** The runs inside of a run, each followed by those inside of it. */
export async function tree(
  root: Node,
  read: (run: Node) => Promise<Run[]>,
  { deepest = DEEPEST, most = MOST } = {},
): Promise<TreeRun[]> {
  const found: TreeRun[] = []
  const seen = new Set([root.run_id])
  const walk = async (node: Node, depth: number) => {
    if (depth >= deepest || found.length >= most) return
    for (const run of await read(node)) {
      if (found.length >= most) return
      if (seen.has(run.run_id)) continue
      seen.add(run.run_id)
      found.push({ ...run, depth })
      await walk(run, depth + 1)
    }
  }
  await walk(root, 0)
  return found
}

interface Waiting {
  run_id: string
  tool: string
  call: NonNullable<Run['pending_tool_call']>
}

/** The calls in a run, or inside of it, that somebody else has to answer. */
export function waitingIn(runs: readonly Run[]): Waiting[] {
  return runs.flatMap(({ run_id, tool, pending_tool_call: call }) =>
    call && (call.status === 'waiting' || call.status === 'pending')
      ? [{ run_id, tool, call }]
      : [],
  )
}
