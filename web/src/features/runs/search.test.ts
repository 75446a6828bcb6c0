import { statusOf } from '~/features/result/run-status'
import { byStatus } from './queries'
import { runsSearch } from './search'

test('denied and test runs are filters of the address', () => {
  expect(runsSearch({ status: 'denied', mode: 'debug' })).toMatchObject({
    status: 'denied',
    mode: 'debug',
  })
  expect(runsSearch({ status: 'nonsense', mode: 'x' })).toEqual({})
})

test('the server is asked for denied runs by their code', () => {
  expect(byStatus('denied')).toEqual({ error_code: 'DENIED' })
  expect(byStatus('cancelled')).toEqual({ status: 'cancelled' })
})

test('a cancelled run that somebody denied is called denied', () => {
  expect(statusOf({ status: 'cancelled', error_code: 'DENIED' })).toBe('denied')
  expect(statusOf({ status: 'cancelled', error_code: 'EXPIRED' })).toBe('expired')
  expect(statusOf({ status: 'cancelled', error_code: 'CANCELLED' })).toBe('cancelled')
  expect(statusOf({ status: 'error', error_code: 'DENIED' })).toBe('error')
})
