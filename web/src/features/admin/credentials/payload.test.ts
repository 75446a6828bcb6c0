import { blank, faultOfRow, isTyped, pathOfText, payloadOf } from './payload'

test('only what belongs to the type is sent', () => {
  const texts = { api_key: 'k', token: 't', username: 'u', endpoint: 'https://example.com' }
  const typed = { ...blank('api_key'), texts, rows: [{ name: 'a', text: 'b' }] }
  expect(payloadOf(typed)).toEqual({ api_key: 'k', endpoint: 'https://example.com' })
  expect(payloadOf({ ...typed, type: 'bearer' })).toEqual({
    token: 't',
    endpoint: 'https://example.com',
  })
  expect(payloadOf({ ...typed, type: 'basic' })).toEqual({ username: 'u', password: '' })
  expect(payloadOf({ ...typed, type: 'custom' })).toEqual({ a: 'b' })
})

test('an endpoint that is not given is left out', () => {
  expect(payloadOf({ ...blank('bearer'), texts: { token: 't', endpoint: '' } })).toEqual({
    token: 't',
  })
})

test('a row without anything in it is none', () => {
  const rows = [
    { name: '', text: '' },
    { name: 'pem', text: 'two\nlines' },
  ]
  const typed = { ...blank('custom'), rows }
  expect(payloadOf(typed)).toEqual({ pem: 'two\nlines' })
  expect(payloadOf(blank('custom'))).toEqual({})
  expect([isTyped(typed), isTyped(blank('custom'))]).toEqual([true, false])
})

test('a text without a name and a name that is there already are told before anything is sent', () => {
  const rows = [
    { name: '', text: 'secret' },
    { name: 'a', text: '1' },
    { name: 'a', text: '2' },
    { name: '', text: '' },
  ]
  expect(rows.map((_, index) => faultOfRow(rows, index))).toEqual([
    'missing',
    undefined,
    'double',
    undefined,
  ])
})

test('the place of a text is spelled as the server spells it', () => {
  expect(pathOfText('a/b~c')).toBe('/payload/a~1b~0c')
  expect(pathOfText('x'.repeat(70))).toBe(`/payload/${'x'.repeat(64)}`)
})
