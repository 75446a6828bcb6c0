import { readFileSync } from 'node:fs'

import { exampleOf } from './example'
import { type Description, operationsOf, type Schema } from './model'

const API: Description = {
  info: { title: 'Test', version: '1' },
  paths: {},
  components: {
    schemas: {
      Colour: { type: 'string', enum: ['red', 'blue'] },
      Node: { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } },
    },
  },
}

const check = (schema: Schema, needed: unknown, all: unknown = needed) => {
  expect(exampleOf(API, schema, 'needed')).toEqual(needed)
  expect(exampleOf(API, schema, 'all')).toEqual(all)
}

test('what is required is always there, the rest on demand', () => {
  const properties: Record<string, Schema> = {
    name: { type: 'string' },
    colour: { $ref: '#/components/schemas/Colour' },
    size: { type: ['integer', 'null'], minimum: 3 },
    tags: { type: 'array', items: { type: 'string' } },
  }
  check(
    { type: 'object', properties, required: ['name', 'colour'] },
    { name: 'text', colour: 'red' },
    { name: 'text', colour: 'red', size: 3, tags: ['text'] },
  )
})

test('what the schema itself offers comes first', () => {
  check({ type: 'string', example: 'mine', default: 'yours' }, 'mine')
  check({ type: 'string', default: 'yours', enum: ['a'] }, 'yours')
  check({ const: 0, type: 'integer' }, 0)
  check({ type: 'string', format: 'email' }, 'ada@example.com')
})

test('of several the first that is not null, and all of those that count together', () => {
  check({ oneOf: [{ type: 'null' }, { type: 'boolean' }] }, true)
  const parts: Schema[] = [
    { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
    { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] },
  ]
  check({ allOf: parts }, { a: 0, b: 0 })
})

test('a schema that refers to itself comes to an end', () => {
  expect(JSON.stringify(exampleOf(API, { $ref: '#/components/schemas/Node' }, 'all'))).toMatch(
    /null/,
  )
})

test('every body and answer of the API has an example', () => {
  const api: Description = JSON.parse(readFileSync('../openapi/toolwright.json', 'utf8'))
  const operations = operationsOf(api)
  expect(operations.length).toBeGreaterThan(50)
  for (const { id, body, answers } of operations) {
    if (body?.schema) expect(exampleOf(api, body.schema, 'needed'), id).toBeTypeOf('object')
    for (const { schema, status } of answers) {
      if (schema) expect(exampleOf(api, schema, 'all'), `${id} ${status}`).not.toBeUndefined()
    }
  }
})
