import { BLANK } from './definition'
import { faultsBelow, partsOfKind, pathOf, putAt, reordered, withoutBelow } from './inside'

test('something is put at a place, and what is beside it stays', () => {
  const before = { url: 'u', retry: { max: 1, other: true } }
  expect(putAt(before, ['retry', 'max'], 2)).toEqual({ url: 'u', retry: { max: 2, other: true } })
  expect(putAt({}, ['retry', 'max'], 2)).toEqual({ retry: { max: 2 } })
  expect(putAt({ steps: [{ id: 'a' }, { id: 'b' }] }, ['steps', 1, 'when'], 'x')).toEqual({
    steps: [{ id: 'a' }, { id: 'b', when: 'x' }],
  })
})

test('nothing takes out what was there', () => {
  expect(putAt({ url: 'u', body: {} }, ['body'], undefined)).toEqual({ url: 'u' })
  expect(putAt({ steps: [1, 2] }, ['steps', 0], undefined)).toEqual({ steps: [2] })
  expect(putAt({ body: {} }, ['body'], null)).toEqual({ body: null })
})

test('a fault is told at its field, one further inside with its place', () => {
  const faults = [
    { path: '/implementation/body', message: 'one' },
    { path: '/implementation/body/a', message: 'two' },
    { path: '/implementation/bodyguard', message: 'other' },
  ]
  expect(faultsBelow(faults, '/implementation/body')).toBe('one /a: two')
  expect(faultsBelow(faults, '/implementation/url')).toBeUndefined()
  expect(pathOf('implementation', ['headers', 'a/b'])).toBe('/implementation/headers/a~1b')
})

test('half typed texts go with their step', () => {
  const texts = { '/s/steps/0/input': 'zero', '/s/steps/2/input': 'two', '/other': 'o' }
  expect(reordered(texts, '/s/steps', [2, 0, 1])).toEqual({
    '/s/steps/0/input': 'two',
    '/s/steps/1/input': 'zero',
    '/other': 'o',
  })
  expect(reordered(texts, '/s/steps', [1, 2])).toEqual({ '/s/steps/1/input': 'two', '/other': 'o' })
  expect(withoutBelow(texts, '/s')).toEqual({ '/other': 'o' })
})

test('another kind starts anew, and the saved one comes back', () => {
  const saved = { ...BLANK, implementation_type: 'http', implementation: { url: 'u' } }
  expect(partsOfKind('http', saved).implementation).toEqual({ url: 'u' })
  expect(partsOfKind('space', saved)).toEqual({ implementation: {}, execution_spec: null })
  expect(partsOfKind('composition', saved).execution_spec).toEqual({
    kind: 'composition',
    steps: [],
  })
})
