import { cleaned } from './clean'
import { filled, filledWhereNew } from './fill'
import { humanize } from './humanize'
import { prepare } from './prepare'
import { readSpec } from './spec'
import { uiSchema } from './ui'
import { visibility } from './visible'

const object = (properties: object, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
})

describe('names become words as on the server', () => {
  test.each([
    ['annual_budget', 'Annual Budget'],
    ['annual-budget', 'Annual Budget'],
    ['annualBudget', 'Annual Budget'],
    ['ANNUAL_BUDGET', 'Annual Budget'],
    ['__annual__budget__', 'Annual Budget'],
    ['data.annualBudget', 'Data Annual Budget'],
    ['year2Total', 'Year2 Total'],
    ['3DViewer', '3D Viewer'],
    ['a', 'A'],
    ['aB', 'A B'],
    ['straße_über', 'Straße Über'],
    ['--', ''],
    ['userID', 'User ID'],
    ['userId', 'User ID'],
    ['HTTPServer', 'HTTP Server'],
    ['parseXMLFile', 'Parse XML File'],
    ['USER_ID', 'User ID'],
    ['roi', 'ROI'],
    ['NATOMember', 'NATO Member'],
    ['idle', 'Idle'],
  ])('%s', (name, label) => expect(humanize(name)).toBe(label))
})

describe('what is sent', () => {
  test('is without what was left empty', () => {
    const schema = object({
      a: { type: 'string' },
      n: { type: 'number' },
      o: object({ x: {} }),
      l: { type: 'array' },
    })
    expect(cleaned(schema, { a: undefined, n: undefined, o: { x: undefined }, l: [] })).toEqual({})
  })

  test('keeps what is required, and emptiness where the server would fill it again', () => {
    const schema = object(
      {
        o: object({}),
        l: { type: 'array' },
        d: { type: 'array', default: [1] },
        s: { type: 'string' },
      },
      ['o', 'l'],
    )
    expect(cleaned(schema, { o: {}, l: [], d: [], s: '' })).toEqual({ o: {}, l: [], d: [], s: '' })
  })

  test('keeps null, false, zero, and the place of an empty item', () => {
    const value = { n: null, f: false, z: 0, l: ['a', undefined, 'b'] }
    expect(cleaned({}, value)).toEqual({ n: null, f: false, z: 0, l: ['a', null, 'b'] })
  })

  test('leaves out what is not shown', () => {
    expect(cleaned({}, { a: 1, b: { c: 2 } }, (path) => path.at(-1) !== 'c')).toEqual({ a: 1 })
  })
})

describe('what a form starts with', () => {
  test('defaults, required parts and first items, and no answer to a yes or no', () => {
    const schema = {
      ...object(
        {
          n: { type: 'integer', default: 3 },
          b: { type: 'boolean' },
          o: { $ref: '#/$defs/o' },
          p: { $ref: '#/$defs/o' },
          l: { type: 'array', minItems: 1, items: { $ref: '#/$defs/o' } },
          k: { const: 'x' },
          z: { type: ['string', 'null'] },
        },
        ['b', 'o', 'l', 'k', 'z'],
      ),
      $defs: { o: object({ d: { default: 'd' }, e: { type: 'string' } }) },
    }
    const begun = { n: 3, o: { d: 'd' }, l: [{ d: 'd' }], k: 'x', z: null }
    expect(filled(schema, undefined)).toEqual(begun)
    expect(filled(schema, { n: 5, z: 'z' })).toEqual({ ...begun, n: 5, z: 'z' })
  })

  test('an item that was added is off, and what it asks is open', () => {
    const items = object({ ok: { type: 'boolean' } }, ['ok'])
    const schema = object({
      flags: { type: 'array', items: { type: 'boolean' } },
      rows: { type: 'array', items },
    })
    const added = { flags: [undefined], rows: [undefined] }
    expect(filledWhereNew(schema, added, { flags: [], rows: [] })).toEqual({
      flags: [false],
      rows: [{}],
    })
  })

  test('what refers to itself comes to an end', () => {
    const schema = { ...object({ next: { $ref: '#' } }, ['next']) }
    expect(JSON.stringify(filled(schema, undefined)).length).toBeLessThan(500)
  })

  test('only what a change added is filled', () => {
    const schema = object({
      n: { default: 3 },
      l: { type: 'array', items: object({ c: { default: 1 } }) },
      o: object({ d: { default: 2 } }),
    })
    const before = { n: undefined, l: [{ c: undefined }] }
    const next = { n: undefined, l: [{ c: undefined }, {}], o: {} }
    expect(filledWhereNew(schema, next, before)).toEqual({ l: [{}, { c: 1 }], o: { d: 2 } })
  })

  test('a choice starts with its first branch, or with that which its constant names', () => {
    const branch = (kind: string) =>
      object({ kind: { const: kind }, [kind]: { default: kind } }, ['kind'])
    const schema = object({ a: { oneOf: [branch('x'), branch('y')] } }, ['a'])
    expect(filled(schema, undefined)).toEqual({ a: { kind: 'x', x: 'x' } })
    expect(filled(schema, { a: { kind: 'y' } })).toEqual({ a: { kind: 'y', y: 'y' } })
  })
})

describe('visibility', () => {
  const spec = (fields: unknown) => readSpec({ version: 2, fields }).fields
  test.each([
    [{ equals: 'slow' }, 'slow', true],
    [{ equals: 'slow' }, undefined, false],
    [{ equals: null }, null, true],
    [{ not_equals: 'slow' }, 'fast', true],
    [{ not_equals: 'slow' }, undefined, true],
    [{ in: ['a', { b: 1 }] }, { b: 1 }, true],
    [{ in: ['a'] }, 'b', false],
    [{ exists: true }, 0, true],
    [{ exists: true }, '', false],
    [{ exists: false }, undefined, true],
  ])('%j with %j is %s', (condition, mode, shown) => {
    const fields = spec([{ path: '/a', show_when: { path: '/mode', ...condition } }])
    expect(visibility({}, fields)(['a'], { mode })).toBe(shown)
  })

  test('a star is the item in which the field stands; what is inside goes with what is outside', () => {
    const fields = spec([
      { path: '/items/*/name', show_when: { path: '/items/*/on', equals: true } },
      { path: '/group', show_when: { path: '/items/0/on', equals: true } },
    ])
    const visible = visibility({}, fields)
    const value = { items: [{ on: true }, { on: false }] }
    expect(visible(['items', 0, 'name'], value)).toBe(true)
    expect(visible(['items', 1, 'name'], value)).toBe(false)
    expect(visible(['group', 'inner'], value)).toBe(true)
    expect(visible(['group', 'inner'], { items: [] })).toBe(false)
  })

  test('the schema has conditions of its own, also behind a reference', () => {
    const schema = {
      ...object({
        a: { 'x-visible-when': { path: '/mode', equals: 'x' } },
        b: { 'x-visible-when': { mode: ['x', 'y'] } },
        l: { type: 'array', items: { $ref: '#/$defs/i' } },
      }),
      $defs: { i: object({ on: {}, c: { 'x-visible-when': [{ path: 'on', equals: true }] } }) },
    }
    const visible = visibility(schema, [])
    expect(visible(['a'], { mode: 'x' })).toBe(true)
    expect(visible(['a'], { mode: 'y' })).toBe(false)
    expect(visible(['b'], { mode: 'y' })).toBe(true)
    expect(visible(['l', 1, 'c'], { l: [{}, { on: true }] })).toBe(true)
    expect(visible(['l', 0, 'c'], { l: [{}, { on: true }] })).toBe(false)
  })
})

describe('the drawn schema', () => {
  const drawn = (schema: unknown) =>
    prepare({ type: 'object', properties: { a: schema } }).properties

  test.each([
    [{ type: ['string', 'null'] }, { type: 'string', 'x-nullable': true }],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, { type: 'integer', 'x-nullable': true }],
    [
      { type: ['string', 'null'], enum: ['x', null] },
      { type: 'string', enum: ['x'], 'x-nullable': true },
    ],
    [
      { oneOf: [{ const: 1, title: 'One' }, { const: 2 }] },
      { enum: [1, 2], 'x-enum-labels': ['One', undefined] },
    ],
    [{ type: ['string', 'number'] }, { 'x-any': true, 'x-types': ['string', 'number'] }],
    [{ type: 'date' }, { 'x-any': true }],
    [true, { 'x-any': true }],
    [{}, { 'x-any': true }],
    [{ $ref: 'other.json' }, { 'x-any': true }],
    [{ type: 'array' }, { type: 'array', items: { 'x-any': true } }],
    [{ maxLength: 5 }, { maxLength: 5, type: 'string' }],
    [{ type: 'object', additionalProperties: false }, { type: 'object' }],
    [
      { type: 'array', prefixItems: [{ type: 'string' }], items: false },
      { type: 'array', items: [{ type: 'string' }], additionalItems: false },
    ],
  ])('%j', (schema, expected) => expect(drawn(schema)).toEqual({ a: { title: 'A', ...expected } }))

  test('a property that nothing fits is not drawn', () => expect(drawn(false)).toEqual({}))

  test('references of every kind lead to definitions, and to themselves', () => {
    const schema = prepare({
      properties: { a: { $ref: '#/$defs/x%20y' }, b: { $ref: '#here' }, c: { $ref: '#' } },
      $defs: { 'x y': { type: 'string' }, z: { $anchor: 'here', type: 'number' } },
    })
    expect(schema.properties).toMatchObject({
      a: { $ref: '#/$defs/d0', title: 'A' },
      b: { $ref: '#/$defs/d1' },
      c: { $ref: '#/$defs/d2' },
    })
    expect(schema.$defs).toMatchObject({
      d0: { type: 'string' },
      d1: { type: 'number' },
      d2: { properties: { c: { 'x-lazy': '#/$defs/d2' } } },
    })
  })
})

test('a form spec becomes notes in a tree, in its order', () => {
  const ui = uiSchema(
    readSpec({
      version: 2,
      fields: [
        { path: '/b', label: 'B!', unit: 'kg' },
        { path: '/a~1c' },
        { path: '/l/*/x', variant: 'radio' },
        7,
      ],
    }),
  )
  expect(ui['ui:order']).toEqual(['b', 'a/c', 'l', '*'])
  expect(ui.b).toMatchObject({ 'ui:title': 'B!', 'ui:look': { unit: 'kg' } })
  expect(ui.l).toMatchObject({ items: { x: { 'ui:look': { variant: 'radio' } } } })
})
