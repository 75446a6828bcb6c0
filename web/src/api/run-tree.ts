import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, body } from './client'
import { hasEnded, type Run, type RunPage, runOf, WATCH_MS } from './runs'

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

/** The runs that a run started itself, in their order. What has ended starts none any more. */
const childrenOf = (id: string, hasEnded: boolean) =>
  queryOptions({
    queryKey: ['runs', 'children', id, hasEnded],
    queryFn: async () => {
      const query = { parent_run_id: id, limit: MOST }
      const page = (await body(api.GET('/api/runs', { params: { query } }))) as unknown
      return (page as RunPage).items.toReversed()
    },
    staleTime: hasEnded ? Number.POSITIVE_INFINITY : 0,
  })

/** Everything that a run started, and what that started in turn. */
export const treeOf = ({ run_id, status }: { run_id: string; status: string }) =>
  queryOptions({
    queryKey: ['runs', 'tree', run_id, hasEnded(status)],
    queryFn: async ({ client }) => {
      const runs = await tree({ run_id, status }, (run) =>
        client.fetchQuery(childrenOf(run.run_id, hasEnded(run.status))),
      )
      // For whom a run waits stands only in the run itself.
      const whole = async (run: TreeRun) =>
        run.status === 'pending'
          ? { ...run, ...(await client.fetchQuery({ ...runOf(run.run_id), staleTime: 0 })) }
          : run
      return Promise.all(runs.map(whole))
    },
    placeholderData: keepPreviousData,
    refetchInterval: hasEnded(status) ? false : WATCH_MS,
  })

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
