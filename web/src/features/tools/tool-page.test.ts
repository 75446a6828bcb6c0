import { execFileSync } from 'node:child_process'

import { Problem } from '~/api/problem'
import { read } from '~/features/result/live-text'
import { agentsAsk } from './tool-header'
import { examples, fromLink, linkTo } from './tool-input'
import { SNIPPET_NAMES, SNIPPETS } from './tool-snippets'
import { canAskAgain } from './tool-start'

const call = {
  origin: 'http://127.0.0.1:7420',
  slug: 'office.greet',
  input: { whom: `Ada's "friend" $(id)`, on: true, no: null, list: [1.5, { deep: [] }], none: {} },
}

test('the curl snippet sends the input as it is, whatever is in it', () => {
  const said = SNIPPETS.curl(call).replace(/^curl /, '')
  // The shell itself takes the words apart.
  const words = execFileSync('sh', ['-c', `for word in ${said}; do printf '%s\\0' "$word"; done`])
    .toString()
    .split('\0')
  expect(words).toContain('http://127.0.0.1:7420/api/tools/office.greet/run')
  expect(words).toContain('Authorization: Bearer YOUR_API_KEY')
  expect(JSON.parse(words.at(-2) ?? '')).toEqual({ input: call.input })
})

test('the TypeScript snippet calls the tool', async () => {
  const calls: unknown[] = []
  const fetch = async (address: string, options: { body: string }) => {
    calls.push(address, JSON.parse(options.body))
    return { ok: true, json: async () => ({ status: 'success', output: 1 }) }
  }
  const body = SNIPPETS.typescript(call)
  await new Function('fetch', 'console', `return (async () => { ${body} })()`)(fetch, {
    log: (...said: unknown[]) => calls.push(said),
  })
  expect(calls).toEqual([
    'http://127.0.0.1:7420/api/tools/office.greet/run',
    { input: call.input },
    ['success', 1],
  ])
})

test('the Python snippet is written as Python writes', () => {
  const said = SNIPPETS.python(call)
  expect(said).toContain('"on": True,')
  expect(said).toContain('"no": None,')
  expect(said).toContain('"deep": [],')
  expect(said).toContain('"none": {},')
  expect(said).toContain(`"whom": "Ada's \\"friend\\" $(id)",`)
})

test('the snippets for MCP clients are JSON that names this server', () => {
  const configs = SNIPPET_NAMES.filter((name) => name.startsWith('mcp')).map(
    (name) => JSON.parse(SNIPPETS[name](call)).mcpServers.toolwright,
  )
  expect(configs).toEqual([
    {
      type: 'http',
      url: 'http://127.0.0.1:7420/mcp',
      headers: { Authorization: 'Bearer YOUR_API_KEY' },
    },
    {
      command: 'toolwright',
      args: ['mcp'],
      env: { TOOLWRIGHT_URL: 'http://127.0.0.1:7420', TOOLWRIGHT_KEY: 'YOUR_API_KEY' },
    },
  ])
})

test('a link carries the input there and back', () => {
  const link = new URL(linkTo('http://a', 'office.greet', call.input) ?? '')
  expect(fromLink(link.searchParams.get('input') ?? '')).toEqual({ input: call.input })
})

test.each([
  ['[]', 'no_object'],
  ['7', 'no_object'],
  ['null', 'no_object'],
  ['{', 'broken'],
  [`{"text":"${'a'.repeat(8_000)}`, 'cut'],
])('a link with %.20s says that it is %s', (text, fault) => {
  expect(fromLink(text)).toEqual({ fault })
})

test('links and snippets carry every digit of a large number', () => {
  const input = { id: 9007199254740993n }
  const link = new URL(linkTo('http://a', 'b', input) ?? '')
  expect(fromLink(link.searchParams.get('input') ?? '')).toEqual({ input })
  for (const name of ['curl', 'typescript', 'python'] as const) {
    expect(SNIPPETS[name]({ ...call, input })).toContain('9007199254740993')
  }
  expect(SNIPPETS.typescript({ ...call, input })).not.toContain('JSON.stringify')
})

test('examples are told apart by their first words', () => {
  const schema = {
    properties: { amount: { title: 'Sum' }, steps: {} },
    examples: [{ amount: 1000, steps: [{ name: 'One' }, { name: 'Two' }] }, 'none', {}],
  }
  expect(examples(schema).map(({ about }) => about)).toEqual(['Sum: 1,000\nSteps: One, Two', ''])
  expect(examples(undefined)).toEqual([])
})

test('whether agents have to ask follows from level and policy', () => {
  const asks = (permission_level: string | null, permission_policy: string | null) =>
    agentsAsk({ permission_level, permission_policy })
  expect(asks('destructive', 'auto')).toBe(true)
  expect(asks('read', 'always_ask')).toBe(true)
  expect(asks('write', null)).toBe(true)
  expect(asks('write', 'auto')).toBe(false)
  expect(asks('read', null)).toBe(false)
  expect(asks(null, null)).toBe(false)
})

test('only an answer that nobody gave is asked for again', () => {
  expect(canAskAgain(Problem.unreachable(new Error('gone')))).toBe(true)
  expect(canAskAgain(new Problem(503, 'SHUTTING_DOWN', ''))).toBe(true)
  expect(canAskAgain(new Problem(409, 'IDEMPOTENCY_IN_FLIGHT', ''))).toBe(true)
  expect(canAskAgain(new Problem(502, 'UNKNOWN', 'Bad Gateway'))).toBe(true)
  expect(canAskAgain(new Problem(500, 'INTERNAL', ''))).toBe(false)
  expect(canAskAgain(new Problem(422, 'INVALID_PARAMS', ''))).toBe(false)
  expect(canAskAgain(new Error('ours'))).toBe(false)
})

test('of a stream only the text of the run itself is shown', () => {
  const event = (type: string, data: unknown) => ({ id: '1', type, data: JSON.stringify(data) })
  const text = { run_id: 'a', payload: { text: 'x' } }
  expect(read(event('tool.output_appended', text), 'a')).toEqual({ text: 'x' })
  expect(read(event('tool.output_appended', text), 'b')).toBeUndefined()
  expect(read(event('tool.completed', { run_id: 'a', payload: {} }), 'a')).toEqual({})
  expect(read({ id: '', type: 'message', data: 'nonsense' }, 'a')).toBeUndefined()
})
