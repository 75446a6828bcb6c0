import { inserted, readValue, rowsOf, typesBesideText, typesOf } from './values'

const read = (typed: string, types: string[], came?: unknown) => {
  const answer = readValue(typed, typesBesideText(types, came))
  return answer ? answer.value : 'half'
}

test.each<[string, string[], unknown, unknown]>([
  ['12', ['string'], undefined, '12'],
  ['12', [], undefined, '12'],
  ['12', ['integer'], undefined, 12],
  ['1.5', ['integer'], undefined, '1.5'],
  ['1.5', ['number', 'null'], undefined, 1.5],
  ['null', ['number', 'null'], undefined, null],
  ['true', ['boolean'], undefined, true],
  ['true', ['string', 'boolean'], undefined, 'true'],
  ['true', ['string', 'boolean'], false, true],
  ['12345678901234567890', ['integer'], undefined, 12345678901234567890n],
  ['{{ input.n }}', ['number'], undefined, '{{ input.n }}'],
  ['{{ input.n }}', ['object'], { a: 1 }, '{{ input.n }}'],
  ['{"a":2}', [], { a: 1 }, { a: 2 }],
  ['{"a":', [], { a: 1 }, 'half'],
  ['[1,', ['array'], undefined, 'half'],
  ['[1]', ['array'], undefined, [1]],
  ['[1]', ['string'], undefined, '[1]'],
  ['11', [], 10, 11],
  ['no', [], true, 'no'],
])('%s, where %j is wanted and %j was: %j', (typed, types, came, value) => {
  expect(read(typed, types, came)).toEqual(value)
})

test('rows are what the schema asks for, and then whatever is there', () => {
  const schema = {
    properties: { city: { type: 'string', description: 'Where' }, days: { title: 'Days' } },
    required: ['city'],
  }
  expect(rowsOf(schema, { more: 1, city: 'x' })).toMatchObject([
    { name: 'city', description: 'Where', isRequired: true, isKnown: true, types: ['string'] },
    { name: 'days', description: 'Days', isRequired: false, isKnown: true, types: [] },
    { name: 'more', isRequired: false, isKnown: false },
  ])
  expect(rowsOf(undefined, undefined)).toEqual([])
})

test('types are found behind references and choices, and a circle ends', () => {
  const root = { $defs: { n: { type: ['integer', 'null'] }, loop: { $ref: '#/$defs/loop' } } }
  expect(typesOf({ $ref: '#/$defs/n' }, root)).toEqual(['integer', 'null'])
  expect(typesOf({ anyOf: [{ type: 'number' }, { type: 'null' }] }, root)).toEqual([
    'number',
    'null',
  ])
  expect(typesOf({ $ref: '#/$defs/loop' }, root)).toEqual([])
})

test('an expression goes where the cursor is', () => {
  expect(inserted('a  b', 2, 2, '{{ x }}')).toBe('a {{ x }} b')
  expect(inserted('old', 0, 3, 'new')).toBe('new')
})
