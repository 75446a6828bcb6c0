import { clock } from './expiry'

test.each([
  [86_399_000, '23 hr 59 min'],
  [3_600_000, '1 hr 0 min'],
  [3_599_000, '59 min 59 sec'],
  [59_001, '1 min 0 sec'],
  [900, '1 sec'],
  [-5, '0 sec'],
])('%i ms are left as %s', (ms, text) => {
  expect(clock(ms, 'en-US')).toBe(text)
})
