import { healthByTool, STRIP } from './library-health'

test('each tool has its own strip, oldest run first', () => {
  const health = healthByTool([
    { tool: 'a', status: 'error' },
    { tool: 'b', status: 'needs_approval' },
    { tool: 'a', status: 'success' },
    { tool: 'a', status: 'timed_out' },
  ])
  expect(health.get('a')).toEqual({ marks: ['bad', 'good', 'bad'], good: 1, bad: 2, open: 0 })
  expect(health.get('b')).toEqual({ marks: ['open'], good: 0, bad: 0, open: 1 })
  expect(health.get('c')).toBeUndefined()
})

test('only the newest runs count', () => {
  const runs = Array.from({ length: STRIP + 5 }, (_, index) => ({
    tool: 'a',
    status: index < STRIP ? 'success' : 'error',
  }))
  expect(healthByTool(runs).get('a')).toMatchObject({ good: STRIP, bad: 0 })
})
