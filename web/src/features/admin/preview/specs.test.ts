import type { Definition } from '../editor/definition'
import { blankOf } from '../editor/inside'
import { FUNCTIONS, mcpToolOf, operationOf, wireName } from './specs'

const tool = (kind: string, more: Partial<Definition> = {}): Definition => ({
  ...blankOf(kind),
  slug: 'weather.now',
  name: 'Weather',
  description: 'Tells it.',
  icon: 'cloud',
  ...more,
})

test('a tool is listed as MCP clients read it', () => {
  const input_schema = { type: 'object', properties: { any: true }, additionalProperties: false }
  expect(mcpToolOf(tool('http', { input_schema }), 'https://t.example')).toEqual({
    name: 'weather.now',
    title: 'Weather',
    description: 'Tells it.',
    icons: [
      { src: 'https://t.example/icons/cloud.svg', mimeType: 'image/svg+xml', sizes: ['any'] },
    ],
    inputSchema: { type: 'object', properties: { any: {} }, additionalProperties: false },
    outputSchema: { type: 'object' },
    annotations: {
      title: 'Weather',
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    },
  })
})

test('whatever may have to wait says so in its output, and references lead to where they stand', () => {
  const output_schema = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/a' } },
    $defs: { a: { type: 'string' } },
  }
  const listed = (more: Partial<Definition>) =>
    mcpToolOf(tool('internal', { output_schema, ...more }), '').outputSchema
  expect(listed({})).toEqual(output_schema)
  for (const more of [
    { permission_level: 'destructive' },
    { permission_level: 'write' },
    { permission_policy: 'always_ask' },
    { is_async: true },
    { implementation_type: 'space' },
  ]) {
    expect(listed(more)).toMatchObject({
      type: 'object',
      anyOf: [
        { properties: { a: { $ref: '#/anyOf/0/$defs/a' } } },
        { required: ['status', 'run_id', 'url'] },
      ],
    })
  }
  expect(listed({ permission_level: 'write', permission_policy: 'auto' })).toEqual(output_schema)
})

test('an operation and a function have the schemas of the tool', () => {
  const definition = tool('http')
  const operation = operationOf(definition)['/api/tools/weather.now/run']
  expect(operation).toMatchObject({ post: { operationId: 'weather__now', summary: 'Weather' } })
  expect(FUNCTIONS.openai(definition)).toMatchObject({ function: { name: 'weather__now' } })
  expect(FUNCTIONS.anthropic(definition)).toMatchObject({ input_schema: { type: 'object' } })
  expect(wireName('x'.repeat(100))).toHaveLength(64)
})
