import { parse, stringify, whole } from './exact'

const LARGE = '{"id":9007199254740993,"least":-9223372036854775808,"most":[18446744073709551615]}'

test('large whole numbers are read and written digit by digit', () => {
  const value = parse(LARGE)
  expect(value).toEqual({
    id: 9007199254740993n,
    least: -9223372036854775808n,
    most: [18446744073709551615n],
  })
  expect(stringify(value)).toBe(LARGE)
  expect(stringify({ id: 9007199254740993n }, 2)).toBe('{\n  "id": 9007199254740993\n}')
})

test('everything else is read as ever', () => {
  const text = String.raw`{"a":9007199254740991,"b":0.12345678901234567,"c":1e300,"d":"9007199254740993","e":"\"9007199254740993","9007199254740993":null,"__proto__":1}`
  expect(parse(text)).toEqual(JSON.parse(text))
  expect(stringify(parse(text))).toBe(JSON.stringify(JSON.parse(text)))
})

test.each(['{9007199254740993:1}', '09007199254740993', '[9007199254740993', '9007199254740993.'])(
  '%s is no JSON',
  (text) => {
    expect(() => parse(text)).toThrow(SyntaxError)
  },
)

test('digits are a number as long as it can hold them', () => {
  expect(whole('12')).toBe(12)
  expect(whole('-9007199254740993')).toBe(-9007199254740993n)
})
