import { chunks } from './long-text'

test('the pieces of a text are the text, and end with its lines', () => {
  const text = 'one\ntwo\nthree\nfour'
  expect(chunks(text, 9)).toEqual(['one\ntwo\n', 'three\n', 'four'])
  expect(chunks(text, 9).join('')).toBe(text)
})

test('a line that is longer than a piece is cut, but no letter of it', () => {
  expect(chunks('aaaa', 3)).toEqual(['aaa', 'a'])
  expect(chunks('aa😀a', 3)).toEqual(['aa', '😀a'])
  expect(chunks('', 3)).toEqual([])
})

test('two megabytes are cut into small pieces', () => {
  const text = 'x'.repeat(1_900_000)
  const parts = chunks(text)
  expect(parts.join('')).toBe(text)
  expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(4_000)
})
