import { faultOfPair, faultOfPairs, objectOf, pairsOf, referenceTo, textOf, valueOf } from './pairs'

const pair = (name: string, value: unknown = '') => ({ name, value })

test('pairs make the object they came from, in its order', () => {
  const members = { b: '1', a: 2, c: ['x'] }
  const made = objectOf(pairsOf(members))
  expect(made).toEqual(members)
  expect(Object.keys(made ?? {})).toEqual(['b', 'a', 'c'])
})

test('a row in which nothing is does not count, and no rows are no object', () => {
  expect(objectOf([pair('')])).toBeUndefined()
  expect(objectOf([])).toBeUndefined()
  expect(objectOf([pair('a', '1'), pair('')])).toEqual({ a: '1' })
  expect(pairsOf(undefined)).toEqual([])
})

test('of two with one name the first counts, one without a name does not, and both are told', () => {
  const pairs = [pair('a', '1'), pair('a', '2'), pair('', 'x'), pair('')]
  expect(objectOf(pairs)).toEqual({ a: '1' })
  expect(pairs.map((_, index) => faultOfPair(pairs, index))).toEqual([
    undefined,
    'double',
    'missing',
    undefined,
  ])
  expect(faultOfPairs(pairs)).toBe('double')
  expect(faultOfPairs([pair('a', '1'), pair('')])).toBeUndefined()
})

test('a header says a credential as its server expects it', () => {
  expect(referenceTo({ label: 'bear', type: 'bearer' })).toBe('Bearer secret:bear')
  expect(referenceTo({ label: 'door', type: 'basic' })).toBe('Basic secret:door')
  expect(referenceTo({ label: 'key', type: 'api_key' })).toBe('secret:key')
})

test('what was a number stays one as long as it reads like one', () => {
  expect(textOf(10)).toBe('10')
  expect(valueOf('11', 10)).toBe(11)
  expect(valueOf('{{ input.n }}', 10)).toBe('{{ input.n }}')
  expect(valueOf('11', '10')).toBe('11')
  expect(valueOf('12345678901234567890', 1)).toBe(12345678901234567890n)
})
