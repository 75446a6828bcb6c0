import { waterfall } from './waterfall'

const at = (second: number) => new Date(second * 1000).toISOString()
const event = (type: string, second: number) => ({ type: `tool.${type}`, at: at(second) })
const phases = (fall: ReturnType<typeof waterfall>) =>
  fall?.bars.map(({ phase, from, to, open }) => [phase, from / 1000, to / 1000, open])

test('a run that waited for a person shows the wait, the queue and the run', () => {
  const events = [
    event('needs_approval', 10),
    event('approved', 40),
    event('started', 41),
    event('completed', 45),
  ]
  const fall = waterfall(events, [], 99_000)
  expect(phases(fall)).toEqual([
    ['approval', 10, 40, false],
    ['queue', 40, 41, false],
    ['run', 41, 45, false],
  ])
  expect([fall?.from, fall?.to]).toEqual([10_000, 45_000])
})

test('what goes on reaches to now', () => {
  expect(phases(waterfall([event('needs_approval', 10)], [], 30_000))).toEqual([
    ['approval', 10, 30, true],
  ])
  expect(phases(waterfall([event('started', 10)], [], 30_000))).toEqual([['run', 10, 30, true]])
})

test('a denied run ends where its wait ends, and never ran', () => {
  const events = [event('needs_approval', 10), event('cancelled', 20)]
  expect(phases(waterfall(events, [], 99_000))).toEqual([['approval', 10, 20, false]])
})

test('a clock that goes backwards makes no bar of negative length', () => {
  const events = [event('started', 10), event('completed', 9)]
  expect(phases(waterfall(events, [], 0))).toEqual([['run', 10, 10, false]])
})

test('steps have bars of their own', () => {
  const step = { run_id: 'r', tool: 'add', status: 'running', started_at: at(12), depth: 1 }
  const fall = waterfall([event('started', 10)], [step], 15_000)
  expect(fall?.bars[1]).toEqual({
    phase: 'step',
    from: 12_000,
    to: 15_000,
    open: true,
    step: { run_id: 'r', tool: 'add', status: 'running' },
    depth: 1,
  })
})

test('without events there is nothing to show', () => {
  expect(waterfall([], [], 0)).toBeUndefined()
})
