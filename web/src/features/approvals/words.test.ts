import { verbOf } from './words'

test('a level that is not known says nothing about the effect', () => {
  expect(verbOf('write')).toBe('write')
  expect(verbOf('toString')).toBe('unknown')
  expect(verbOf(null)).toBe('unknown')
})
