import type { TFunction } from 'i18next'

import { Problem } from '~/api/problem'
import { faultsOf, isStale, plainly, usersIn } from './fault-words'

const t = ((key: string, values = {}) =>
  [key, ...Object.values(values)].join(' ')) as unknown as TFunction<'credentials'>

test.each([
  ['has 1 to 64 characters', 'fault.length 64'],
  ['has 1 to 16384 bytes', 'fault.bytes 16384'],
  ['consists of letters a-z, digits, `.`, `_` and `-`', 'fault.characters'],
  ['starts and ends with a letter or a digit', 'fault.ends'],
  ['is needed', 'fault.needed'],
  ['is what stands in the place of a secret, and none itself', 'fault.stars'],
  ['holds characters that cannot be sent', 'fault.control'],
  ['cannot contain `:`', 'fault.colon'],
  ['is no name: use letters a-z, digits, `_` and `-`, at first', 'fault.name'],
  ['holds at least one text', 'fault.no_text'],
  ['the URL cannot be used: it has no host', 'fault.url it has no host'],
  ['something new', 'something new'],
])('%s', (message, expected) => {
  expect(plainly(t, message, 'x')).toBe(expected)
})

test('what is empty is needed, whatever else is wrong with it', () => {
  expect(plainly(t, 'has 1 to 64 characters', '')).toBe('fault.needed')
})

test('a label that is taken is a fault of its field', () => {
  const taken = new Problem(409, 'CONFLICT', 'the label is taken')
  expect(faultsOf(taken)).toEqual([{ path: '/label', message: 'the label is taken' }])
  expect(faultsOf(new Problem(409, 'CONFLICT', 'something else'))).toEqual([])
  expect(faultsOf(new Error('broken'))).toEqual([])
})

test('who uses a credential is read from the refusal', () => {
  const used = (to: string) => `the credential cannot be ${to}: it is used by city.weather, crm`
  expect(usersIn(new Problem(409, 'CONFLICT', used('removed')))).toEqual(['city.weather', 'crm'])
  expect(usersIn(new Problem(409, 'CONFLICT', 'the label is taken'))).toEqual([])
  expect(isStale(new Problem(412, 'STALE', 'changed'))).toBe(true)
})
