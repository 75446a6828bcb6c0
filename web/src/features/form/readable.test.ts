import { withJsonParts } from './readable'

test.each([
  [{ type: 'object' }, true],
  [{ type: 'object', additionalProperties: true }, true],
  [{ type: 'object', additionalProperties: false }, false],
  [{ type: 'object', additionalProperties: { type: 'string' } }, false],
  [{ type: 'object', properties: { a: {} } }, false],
  [{ type: 'string' }, false],
])('%j is written as JSON: %s', (schema, expected) => {
  const changed = withJsonParts({ type: 'array', items: schema }) as { items: object }
  expect('x-variant' in changed.items).toBe(expected)
})
