import { t } from '~/i18n'
import { said } from '../faults'
import { FormModel } from '../model'
import { meets } from './checker'
import { isTame } from './patterns'

function told(schema: unknown, value: unknown): string[] {
  const model = new FormModel(schema, undefined)
  return model
    .complaints(value)
    .map((complaint) => said(complaint, t, 'en'))
    .map(({ path, message }) => `${path}: ${message}`)
}

const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest })

test.each([
  [{ type: 'number', minimum: 1 }, 0, 'Enter a number of at least 1.'],
  [{ type: 'number', maximum: 1000 }, 1001, 'Enter a number of at most 1,000.'],
  [{ exclusiveMinimum: 0 }, 0, 'Enter a number greater than 0.'],
  [{ exclusiveMaximum: 2.5 }, 3, 'Enter a number less than 2.5.'],
  [{ multipleOf: 0.01 }, 0.005, 'Enter a multiple of 0.01.'],
  [{ type: 'integer' }, 1.5, 'Enter a whole number.'],
  [
    { type: 'integer' },
    123456789012345678901n,
    'This number is too large for exact storage. Enter a smaller number.',
  ],
  [{ type: 'number' }, '12,5', 'Enter a number such as 1234.5 or 1,234.50.'],
  [{ maximum: 100 }, 9007199254740993n, 'Enter a number of at most 100.'],
  [{ type: 'number' }, 'not a number', 'Enter a number.'],
  [{ type: ['string', 'null'] }, 5, 'Enter a text.'],
  [{ type: ['string', 'number'] }, true, 'This has the wrong type.'],
  [{ minLength: 3 }, 'ab', 'Enter at least 3 characters.'],
  [{ minLength: 1 }, '', 'This field is required.'],
  [{ maxLength: 1 }, 'ab', 'Enter at most one character.'],
  [{ enum: ['a', 'b'] }, 'c', 'Choose one of the values offered.'],
  [{ const: 'x' }, 'y', 'This must be x.'],
  [{ pattern: '^[A-Z]$' }, 'a', 'This must match the pattern ^[A-Z]$.'],
  [{ pattern: '\\S' }, '  ', 'This field is required.'],
  [{ format: 'email' }, 'x', 'Enter an email address, such as name@example.com.'],
  [{ format: 'uri' }, 'x', 'Enter a full address, such as https://example.com.'],
  [{ format: 'json-pointer' }, 'x', 'This is not a valid json-pointer.'],
  [{ type: 'array', minItems: 2 }, [1], 'Add at least 2 items.'],
  [{ type: 'array', uniqueItems: true }, [1, 1], 'Each item may appear only once.'],
  [
    { contains: { type: 'string' } },
    [1],
    'The list has too few or too many items of the required form.',
  ],
  [{ not: { type: 'string' } }, 'x', 'This value matches a form that is not allowed.'],
  [false, 1, 'This is not allowed here.'],
])('%j refuses %j in plain words', (schema, value, message) => {
  expect(told(object({ a: schema }), { a: value })).toEqual([`/a: ${message}`])
})

test.each([
  [{ type: 'integer' }, 9007199254740993n],
  [{ type: 'integer', maximum: 18446744073709551615n }, 18446744073709551615n],
  [{ type: 'integer', minimum: -9223372036854775808n }, -9223372036854775808n],
  [{ exclusiveMaximum: 9007199254740996 }, 9007199254740995n],
  [{ multipleOf: 3 }, 9007199254740993n],
  [{ uniqueItems: true }, [9007199254740992n, 9007199254740993n]],
  [{ enum: [9007199254740993n] }, 9007199254740993n],
])('%o takes %o, digit by digit', (schema, value) => {
  expect(told(object({ a: schema }), { a: value })).toEqual([])
})

test('a missing property is told at its own place, at every depth', () => {
  const schema = {
    ...object(
      { list: { type: 'array', items: { $ref: '#/$defs/x' } } },
      { required: ['list', 'a/b'] },
    ),
    $defs: { x: object({ n: { type: 'integer', minimum: 1 } }, { required: ['n', 'm'] }) },
  }
  expect(told(schema, { list: [{ n: 0 }] })).toEqual(
    [
      '/a~1b: This field is required.',
      '/list/0/n: Enter a number of at least 1.',
      '/list/0/m: This field is required.',
    ].sort((left, right) => order(left) - order(right)),
  )
  function order(line: string) {
    return ['/a~1b', '/list/0/m', '/list/0/n'].findIndex((path) => line.startsWith(path))
  }
})

test('frames say nothing, and nothing is said twice', () => {
  const schema = {
    allOf: [
      { $ref: '#/$defs/x' },
      { $ref: '#/$defs/x' },
      { if: { required: ['b'] }, else: { required: ['b'] } },
    ],
    $defs: { x: object({ a: { type: 'string' } }) },
  }
  expect(told(schema, { a: 1 })).toEqual(['/a: Enter a text.', '/b: This field is required.'])
})

test('an unknown property is told only where nothing else is wrong', () => {
  const schema = { allOf: [object({ a: { type: 'string' } })], unevaluatedProperties: false }
  expect(told(schema, { a: 1 })).toEqual(['/a: Enter a text.'])
  expect(told(schema, { a: 'x', b: 1 })).toEqual(['/b: This is not allowed here.'])
  const closed = object({ a: {} }, { additionalProperties: false })
  expect(told(closed, { b: 1 })).toEqual(['/b: This is not allowed here.'])
})

test('of several forms the one that was meant is spoken of', () => {
  const variant = (kind: string, name: string) =>
    object({ kind: { const: kind }, [name]: { type: 'number' } }, { required: ['kind', name] })
  const schema = { oneOf: [variant('circle', 'radius'), variant('square', 'side')] }
  expect(told(schema, { kind: 'square', side: 'x' })).toEqual(['/side: Enter a number.'])
  expect(
    told(object({ a: { anyOf: [{ type: 'number', minimum: 5 }, { type: 'null' }] } }), { a: 1 }),
  ).toEqual(['/a: Enter a number of at least 5.'])
  expect(told(object({ a: { anyOf: [{ const: 1 }, { const: 2 }] } }), { a: 3 })).toEqual([
    '/a: Choose one of the values offered.',
  ])
  expect(told(object({ a: { oneOf: [{ minimum: 1 }, { minimum: 2 }] } }), { a: 3 })).toEqual([
    '/a: This matches more than one of the allowed forms, but must match exactly one.',
  ])
  expect(told(object({ a: { anyOf: [{ minimum: 5 }, { multipleOf: 2 }] } }), { a: 3 })).toEqual([
    '/a: This matches none of the allowed forms.',
  ])
})

test('a dependent property is asked for by name', () => {
  const schema = { type: 'object', dependentRequired: { card: ['address'] } }
  expect(told(schema, { card: 1 })).toEqual(['/address: This field is required.'])
})

test('an item that was left empty is a field to fill', () => {
  expect(told(object({ a: { type: 'array', items: { type: 'string' } } }), { a: [null] })).toEqual([
    '/a/0: This field is required.',
  ])
})

test('numbers that are whole are integers, however they are written', () => {
  expect(told(object({ a: { type: 'integer' } }), JSON.parse('{"a":1.0}'))).toEqual([])
})

test('schemas that cannot be checked here let everything pass to the server', () => {
  expect(told({ $ref: '#/$defs/missing' }, {})).toEqual([])
  expect(told({ $ref: 'https://example.com/x.json' }, {})).toEqual([])
  expect(told(object({ a: { pattern: '(?<=x)y(' } }), { a: 'z' })).toEqual([])
  expect(told({ $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, {})).toEqual([])
})

test.each(['^(a+)+$', '(a|aa)*b', '(?:[a-z]+\\d*)+$', '((a*))*', '^(.*,){5,}', '('.repeat(5_000)])(
  'the browser is not trusted with the pattern %s',
  (pattern) => {
    expect(isTame(pattern)).toBe(false)
    const started = performance.now()
    expect(told(object({ a: { pattern } }), { a: `${'a'.repeat(50_000)}!` })).toEqual([])
    expect(performance.now() - started).toBeLessThan(500)
  },
)

test.each([
  '^[A-Z]{1,3}-\\d+$',
  '\\S',
  '^\\+?[0-9(][0-9 ()./-]{2,30}$',
  '^(?:a|b)$',
  '[(]+',
  '\\(a+\\)',
])('it is trusted with %s', (pattern) => expect(isTame(pattern)).toBe(true))

test('parts of a drawn schema are met with references into it', () => {
  const defs = { a: { type: 'string' } }
  expect(meets({ $ref: '#/$defs/a' }, 'x', defs)).toBe(true)
  expect(meets({ properties: { b: { $ref: '#/$defs/a' } } }, { b: 1 }, defs)).toBe(false)
  expect(meets({ $ref: '#/$defs/b' }, 'x', defs)).toBe(false)
})
