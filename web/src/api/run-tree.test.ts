import { tree, waitingIn } from './run-tree'
import type { Run } from './runs'

const run = (run_id: string) => ({ run_id, tool: run_id, status: 'success' }) as Run
const inside: Record<string, string[]> = { a: ['b', 'e'], b: ['c', 'd'], e: ['a'] }
const read = async ({ run_id }: { run_id: string }) => (inside[run_id] ?? []).map(run)
const drawn = (runs: { run_id: string; depth: number }[]) =>
  runs.map(({ run_id, depth }) => `${'-'.repeat(depth)}${run_id}`)

test('each run is followed by those inside of it, and none comes twice', async () => {
  expect(drawn(await tree(run('a'), read))).toEqual(['b', '-c', '-d', 'e'])
})

test('it goes only so deep and takes only so many', async () => {
  expect(drawn(await tree(run('a'), read, { deepest: 1 }))).toEqual(['b', 'e'])
  expect(drawn(await tree(run('a'), read, { most: 2 }))).toEqual(['b', '-c'])
  const endless = async ({ run_id }: { run_id: string }) => [run(`${run_id}x`)]
  expect(await tree(run('a'), endless)).toHaveLength(8)
})

test('what was answered does not wait', () => {
  const call = (status: string) => ({ id: status, status, waits_for: 'person', expires_at: '' })
  const runs = ['waiting', 'pending', 'resolved', 'expired', 'cancelled'].map((status) => ({
    ...run(status),
    pending_tool_call: call(status),
  }))
  expect(waitingIn([run('a'), ...runs]).map(({ run_id }) => run_id)).toEqual(['waiting', 'pending'])
})
