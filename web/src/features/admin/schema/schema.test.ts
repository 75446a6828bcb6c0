import {
  KINDS,
  kindOf,
  type Schema,
  shapeOf,
  VARIANTS,
  variantOf,
  withKind,
  withVariant,
} from './kinds'
import {
  addMember,
  changeMember,
  faultOfName,
  membersOf,
  moveMember,
  removeMember,
  renameMember,
  withRequired,
} from './members'
import { optionsOf, withOptions } from './options'

const order: Schema = {
  type: 'object',
  $comment: 'kept',
  properties: {
    who: { type: 'string', minLength: 2, 'x-internal': true },
    amount: { type: 'number', minimum: 0 },
    when: { type: 'string', format: 'date-time' },
  },
  required: ['who', 'when'],
  additionalProperties: false,
}

const names = (schema: Schema) => membersOf(schema).map(({ name }) => name)

test.each(KINDS)('a new %s is read as what it is', (kind) => {
  expect(kindOf(shapeOf(kind))).toBe(kind)
  expect(variantOf(shapeOf(kind), kind)).toBe(VARIANTS[kind][0])
})

test.each(KINDS)('every way to show a %s is read back', (kind) => {
  for (const variant of VARIANTS[kind]) {
    const schema = withVariant(shapeOf(kind), kind, variant)
    expect(kindOf(schema)).toBe(kind)
    expect(variantOf(schema, kind)).toBe(variant)
  }
})

test('types are told from formats, and what fields cannot say has none', () => {
  expect(kindOf({ type: 'integer' })).toBe('number')
  expect(kindOf({ type: 'string', 'x-entity-type': 'deal' })).toBe('relation')
  expect(kindOf({ enum: [1, 2] })).toBe('enum')
  expect(kindOf({ type: 'string', format: 'uuid' })).toBeUndefined()
  expect(kindOf({ type: ['string', 'null'] })).toBeUndefined()
  expect(kindOf({ anyOf: [] })).toBeUndefined()
  expect(kindOf({ $ref: '#/$defs/a' })).toBeUndefined()
  expect(kindOf({ type: 'string', 'x-toolwright-type': 'colour' })).toBeUndefined()
})

test('another type keeps the words and drops what belonged to the old one', () => {
  const before = { type: 'string', title: 'Who', minLength: 2, default: 'x', 'x-internal': true }
  expect(withKind(before, 'number')).toEqual({ type: 'number', title: 'Who', 'x-internal': true })
})

test('an integer is another type, and back again nothing is left of it', () => {
  const whole = withVariant({ type: 'number', minimum: 1 }, 'number', 'integer')
  expect(whole).toEqual({ type: 'integer', minimum: 1, 'x-variant': 'integer' })
  expect(withVariant(whole, 'number', 'input')).toEqual({ type: 'number', minimum: 1 })
})

test('a field is added under a free name', () => {
  const twice = addMember(addMember({ type: 'object' }))
  expect(names(twice)).toEqual(['field', 'field_2'])
})

test('a field is renamed in its place, also among the required ones', () => {
  const renamed = renameMember(order, 'who', 'person')
  expect(names(renamed)).toEqual(['person', 'amount', 'when'])
  expect(renamed.required).toEqual(['person', 'when'])
  expect(membersOf(renamed)[0]?.schema).toEqual(membersOf(order)[0]?.schema)
})

test('a name that is empty or taken changes nothing', () => {
  expect(faultOfName(order, 'who', '')).toBe('empty')
  expect(faultOfName(order, 'who', 'amount')).toBe('taken')
  expect(faultOfName(order, 'who', 'who')).toBeUndefined()
  expect(faultOfName(order, 'who', 'x'.repeat(129))).toBe('long')
  expect(renameMember(order, 'who', 'amount')).toBe(order)
})

test('fields move, and stop at the ends', () => {
  expect(names(moveMember(order, 'who', 1))).toEqual(['amount', 'who', 'when'])
  expect(names(moveMember(order, 'when', -1))).toEqual(['who', 'when', 'amount'])
  expect(moveMember(order, 'who', -1)).toBe(order)
  expect(moveMember(order, 'when', 1)).toBe(order)
})

test('a removed field is not required any more', () => {
  const removed = removeMember(removeMember(order, 'who'), 'when')
  expect(names(removed)).toEqual(['amount'])
  expect('required' in removed).toBe(false)
  expect(removed.$comment).toBe('kept')
})

test('required there and back again is what it was', () => {
  const there = withRequired(order, 'amount', true)
  expect(there.required).toEqual(['who', 'amount', 'when'])
  expect(withRequired(there, 'amount', false)).toEqual(order)
})

test('a change of one field leaves the others alone', () => {
  const changed = changeMember(order, 'amount', { type: 'number' })
  expect(membersOf(changed).map(({ schema }) => schema)).toEqual([
    { type: 'string', minLength: 2, 'x-internal': true },
    { type: 'number' },
    { type: 'string', format: 'date-time' },
  ])
})

test('choices keep their type, and an old default that is no choice goes', () => {
  const schema = { type: 'integer', enum: [1, 2], default: 2 }
  expect(optionsOf(schema)).toEqual([
    { value: '1', label: '' },
    { value: '2', label: '' },
  ])
  expect(
    withOptions(schema, [
      { value: '1', label: 'One' },
      { value: '3', label: '' },
    ]),
  ).toEqual({
    type: 'integer',
    enum: [1, 3],
    'x-enum-labels': ['One', null],
  })
})
