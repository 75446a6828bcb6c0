import { beginOf, fromLocal, toLocal } from './time-range'

test('a range counts back from now', () => {
  const now = Date.parse('2026-03-10T12:00:00Z')
  expect(beginOf('1h', now)).toBe('2026-03-10T11:00:00.000Z')
  expect(beginOf('7d', now)).toBe('2026-03-03T12:00:00.000Z')
})

test('a moment goes to the control and comes back the same', () => {
  const moment = '2026-03-29T10:30:00.000Z'
  expect(fromLocal(toLocal(moment))).toBe(moment)
})

test('what is no moment is nothing', () => {
  expect(toLocal('yesterday')).toBe('')
  expect(toLocal(undefined)).toBe('')
  expect(fromLocal('')).toBeUndefined()
})
