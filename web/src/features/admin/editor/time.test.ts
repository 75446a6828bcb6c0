import { readTime, timeWords, typedTime } from './time'

test.each([
  [30_000, '30', 'second'],
  [90_000, '90', 'second'],
  [1_500, '1.5', 'second'],
  [1, '0.001', 'second'],
  [0, '0', 'second'],
  [600_000, '10', 'minute'],
  [7_200_000, '2', 'hour'],
  [86_400_000, '1', 'day'],
  [null, '', 'second'],
] as const)('%s ms are typed as %s %s, and read again', (ms, text, unit) => {
  expect(typedTime(ms)).toEqual({ text, unit })
  expect(readTime({ text, unit })).toBe(ms)
})

test.each(['1e3', '-1', 'soon', '1.2345', '1.000,5'])('%s is no time', (text) => {
  expect(readTime({ text, unit: 'minute' })).toBeUndefined()
})

test('a comma is a point, as in German', () => {
  expect(readTime({ text: ' 1,5 ', unit: 'hour' })).toBe(5_400_000)
})

test('a time in words is exact', () => {
  expect([1_000, 90_000, 86_400_000, 1_234].map(timeWords)).toEqual([
    '1 second',
    '90 seconds',
    '1 day',
    '1.234 seconds',
  ])
})
