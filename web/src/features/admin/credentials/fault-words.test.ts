import { Problem } from '~/api/problem'
import { type TFunction } from '~/i18n'
import { faultsOf, isStale, plainly, usersIn } from './fault-words'

const t: TFunction = (key) => key

test('what is empty is needed, whatever else is wrong with it', () => {
  const fault = { path: '/label', code: 'length', params: { min: 1, max: 64 }, message: 'is short' }
  expect(plainly(t, fault, '')).toBe('fault.needed')
})

test('a label that is taken is a fault of its field', () => {
  const fault = { path: '/label', code: 'taken', message: 'is taken' }
  expect(faultsOf(new Problem(409, 'CONFLICT', 'the label is taken', [fault]))).toEqual([fault])
  expect(faultsOf(new Error('broken'))).toEqual([])
})

test('who uses a credential is read from the refusal', () => {
  const by = ['city.weather', 'crm']
  const used = new Problem(409, 'CONFLICT', 'used', [], undefined, { reason: 'in_use', by })
  expect(usersIn(used)).toEqual(by)
  expect(usersIn(new Problem(409, 'CONFLICT', 'the label is taken'))).toEqual([])
  expect(isStale(new Problem(412, 'STALE', 'changed'))).toBe(true)
})
