import { exampleWords, knownFields } from './known-fields'
import { pathsOf } from './steps'

const fields = (schema: unknown, example?: unknown) =>
  knownFields(schema, example).map(({ path }) => path.join('/'))

test('fields are known down to the last, behind references, choices and lists', () => {
  const schema = {
    $defs: { wind: { properties: { speed: { type: 'number' } } } },
    properties: {
      current: { properties: { wind: { $ref: '#/$defs/wind' } } },
      days: { type: 'array', items: { properties: { high: {} } } },
      either: { anyOf: [{ type: 'null' }, { properties: { a: {} } }] },
    },
  }
  expect(fields(schema)).toEqual([
    'current',
    'current/wind',
    'current/wind/speed',
    'days',
    'days/0',
    'days/0/high',
    'either',
    'either/a',
  ])
})

test('what no schema describes is known from the last output, with its values', () => {
  const output = { temperature: 21.5, days: [{ high: 25 }], none: [] }
  expect(fields(undefined, output)).toEqual([
    'temperature',
    'days',
    'days/0',
    'days/0/high',
    'none',
  ])
  expect(knownFields({ properties: { temperature: {} } }, output)[0]).toEqual({
    path: ['temperature'],
    example: 21.5,
  })
})

test('a circle ends, and what is vast is cut', () => {
  const loop = { $ref: '#/$defs/a', $defs: { a: { properties: { next: { $ref: '#/$defs/a' } } } } }
  expect(fields(loop).length).toBeLessThan(10)
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`f${n}`, n]))
  expect(fields(undefined, wide)).toHaveLength(80)
})

test('a way is written as templates read it', () => {
  expect(pathsOf('input', [{ path: ['a b', 0, 'c'], example: 'x' }])).toEqual([
    { text: '{{ input["a b"][0].c }}', example: 'x' },
  ])
  expect(exampleWords('y'.repeat(50))).toHaveLength(40)
  expect(exampleWords({})).toBeUndefined()
})
