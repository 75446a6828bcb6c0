import { canStand, wishOf } from './standing'

test('later calls of agents can be approved, and never what destroys', () => {
  expect(canStand({ level: 'write', requested_by: 'agent:clerk' })).toBe(true)
  expect(canStand({ level: null, requested_by: 'agent:clerk' })).toBe(true)
  expect(canStand({ level: 'destructive', requested_by: 'agent:clerk' })).toBe(false)
  expect(canStand({ level: 'write', requested_by: 'user:1' })).toBe(false)
})

test('the whole input is what has to be the same, unless fields are named', () => {
  expect(wishOf({ hours: 8, fields: undefined })).toEqual({ for_s: 28_800 })
  expect(wishOf({ hours: 1, fields: ['/a'] })).toEqual({ for_s: 3_600, fields: ['/a'] })
})
