import { faultOfPair, objectOf, pairsOf, textOf, valueOf } from './pairs'

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

test('of two with one name the first counts, and the second is told', () => {
  const pairs = [pair('a', '1'), pair('a', '2'), pair('', 'x'), pair('')]
  expect(objectOf(pairs)).toEqual({ a: '1', '': 'x' })
  expect(pairs.map((_, index) => faultOfPair(pairs, index))).toEqual([
    undefined,
    'double',
    'missing',
    undefined,
  ])
})

test('what was a number stays one as long as it reads like one', () => {
  expect(textOf(10)).toBe('10')
  expect(valueOf('11', 10)).toBe(11)
  expect(valueOf('{{ input.n }}', 10)).toBe('{{ input.n }}')
  expect(valueOf('11', '10')).toBe('11')
  expect(valueOf('12345678901234567890', 1)).toBe(12345678901234567890n)
})
