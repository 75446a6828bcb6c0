import { render, screen } from '@testing-library/react'

import { InputForm } from './input-form'
import { withJsonParts, withoutEmpty } from './readable'

const input_schema = {
  type: 'object',
  properties: {
    action: { type: 'string' },
    input_schema: { type: 'object', description: 'JSON Schema' },
    fields: { type: 'array', items: { type: 'object' } },
    icon: { type: 'string' },
  },
  required: ['action'],
}

test('an object that may hold anything is read as JSON, and what was not given is not there', async () => {
  const value = { action: 'create', input_schema: { type: 'object', properties: { a: {} } } }
  render(
    <InputForm
      tool={{ slug: 'manageTools', input_schema }}
      value={value}
      onChange={() => {}}
      readOnly
    />,
  )
  const box = await screen.findByLabelText<HTMLTextAreaElement>(
    /Input Schema/,
    {},
    { timeout: 20_000 },
  )
  expect(JSON.parse(box.value)).toEqual(value.input_schema)
  expect(box.readOnly).toBe(true)
  expect(screen.queryByLabelText(/Icon/)).toBeNull()
}, 30_000)

test('a tool that takes any object is not said to need none', () => {
  const tool = { slug: 'echo', input_schema: { type: 'object' } }
  render(<InputForm tool={tool} value={{ a: 1 }} onChange={() => {}} readOnly />)
  expect(screen.getByLabelText('Input')).toHaveTextContent('"a": 1')
})

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

test('a value that is no object leaves the schema as it is', () => {
  expect(withoutEmpty(input_schema, 'text')).toBe(input_schema)
})
