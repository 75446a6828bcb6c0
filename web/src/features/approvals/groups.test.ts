import type { Approval } from './approval-queries'
import { canBatch, counts, filtered, grouped } from './groups'

const one = (id: string, change: Partial<Approval> = {}): Approval => ({
  id,
  run_id: `run-${id}`,
  tool: 'pay',
  version: '1.0.0',
  level: 'write',
  reason: 'the tool writes',
  requested_by: 'agent:bot',
  requested_at: '2026-11-18T00:00:00Z',
  expires_at: '2026-11-19T00:00:00Z',
  status: 'pending',
  input: { record: id, amount: 1 },
  ...change,
})

test('what one agent asks of one tool stands together, where the oldest of it would', () => {
  const groups = grouped([
    one('a'),
    one('b', { requested_by: 'agent:other' }),
    one('c'),
    one('d', { level: 'destructive' }),
  ])
  expect(groups.map(({ approvals }) => approvals.map(({ id }) => id))).toEqual([
    ['a', 'c'],
    ['b'],
    ['d'],
  ])
  expect(groups[0]?.varying).toEqual(new Set(['record']))
})

test('both filters hold', () => {
  const all = [one('a'), one('b', { tool: 'wipe' }), one('c', { requested_by: 'agent:other' })]
  const ids = (search: object) => filtered(all, search).map(({ id }) => id)
  expect(ids({})).toEqual(['a', 'b', 'c'])
  expect(ids({ tool: 'pay' })).toEqual(['a', 'c'])
  expect(ids({ tool: 'pay', by: 'agent:bot' })).toEqual(['a'])
})

test('what cannot be undone is never decided together with others', () => {
  expect(canBatch(one('a'))).toBe(true)
  expect(canBatch(one('a', { level: 'destructive' }))).toBe(false)
  expect(canBatch(one('a', { status: 'approved' }))).toBe(false)
})

test('words are counted, the most frequent first', () => {
  expect(counts(['a', 'b', 'b', 'c'])).toEqual([
    ['b', 2],
    ['a', 1],
    ['c', 1],
  ])
})
