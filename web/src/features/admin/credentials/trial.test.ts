import { verdictOf } from './trial'

test.each([
  [true, 204, 'taken'],
  [false, 401, 'refused'],
  [false, 403, 'refused'],
  [false, 302, 'elsewhere'],
  [false, 500, 'unclear'],
  [false, null, 'unanswered'],
])('ok %s with status %s is told as %s', (ok, status, verdict) => {
  expect(verdictOf({ ok, status, message: '' })).toBe(verdict)
})
