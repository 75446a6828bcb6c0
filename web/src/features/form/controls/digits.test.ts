import { readNumber, usesComma, writtenNumber } from './digits'

test('decimals come after a comma in German, after a point in English', () => {
  expect([usesComma('de'), usesComma('en')]).toEqual([true, false])
})

test.each([
  ['12,5', 12.5],
  ['12.5', 12.5],
  ['-0,25', -0.25],
  ['12,', 12],
  ['1,5e3', 1500],
  ['9007199254740993', 9007199254740993n],
  ['', undefined],
  // May be a thousand.
  ['1.234', '1.234'],
  ['1.234,5', '1.234,5'],
  ['zwölf', 'zwölf'],
])('%s in German', (text, value) => expect(readNumber(text, true)).toBe(value))

test.each([
  ['12.5', 12.5],
  ['1.234', 1.234],
  ['+7', 7],
  ['.5', 0.5],
  ['12,5', '12,5'],
  ['1,234', '1,234'],
  ['1e999', '1e999'],
  ['0x10', '0x10'],
])('%s in English', (text, value) => expect(readNumber(text, false)).toBe(value))

test('a number is shown as it is typed', () => {
  expect(writtenNumber(1.234, true)).toBe('1,234')
  expect(writtenNumber(1.234, false)).toBe('1.234')
  expect(writtenNumber('1.234', true)).toBe('1.234')
  expect(writtenNumber(9007199254740993n, true)).toBe('9007199254740993')
  expect(writtenNumber(undefined, true)).toBe('')
})
