import type { Run } from '~/api/runs'
import { withTail } from './live-tail'

const run = (run_id: string, status = 'success') => ({ run_id, status }) as Run
const ids = (runs: Run[]) => runs.map((run) => run.run_id)

test('without a tail the list is as it is', () => {
  expect(withTail([run('1')], undefined, '')).toMatchObject({ held: 0, gap: false })
})

test('new runs wait until they are let in', () => {
  const newest = { items: [run('4'), run('3'), run('2')] }
  const before = withTail([run('2'), run('1')], newest, '')
  expect(ids(before.rows)).toEqual(['2', '1'])
  expect(before.held).toBe(2)

  const after = withTail([run('2'), run('1')], newest, '3')
  expect(ids(after.rows)).toEqual(['3', '2', '1'])
  expect(after.fresh).toEqual(new Set(['3']))
  expect(after.held).toBe(1)
})

test('runs that are listed already show their state of now', () => {
  const { rows } = withTail([run('2', 'running')], { items: [run('2', 'error')] }, '')
  expect(rows).toEqual([run('2', 'error')])
})

test('a tail that does not reach the list is a gap', () => {
  const newest = { items: [run('9'), run('8')], next_cursor: 'more' }
  expect(withTail([run('2')], newest, '9')).toMatchObject({ gap: true, held: 2 })
  expect(ids(withTail([run('2')], newest, '9').rows)).toEqual(['2'])
  expect(withTail([run('8')], newest, '9')).toMatchObject({ gap: false, held: 0 })
})

test('an empty list takes all that comes', () => {
  const { rows, gap } = withTail([], { items: [run('9')], next_cursor: 'more' }, '9')
  expect(ids(rows)).toEqual(['9'])
  expect(gap).toBe(false)
})
