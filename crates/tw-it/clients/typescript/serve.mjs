// A server made with the official TypeScript SDK, for the tests of our client. Prints its address.
//
// `v1` is the first major version, whose clients open with `initialize` and get a session; `v2` serves the present
// revision alone.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

const [generation] = process.argv.slice(2)
const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const text = (text) => [{ type: 'text', text }]

function withTools(server, z) {
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    async ({ a, b }) => ({ content: text(`${a + b}`), structuredContent: { sum: a + b } }),
  )
  server.registerTool(
    'echo',
    { description: 'Gives a text back.', inputSchema: z.object({ text: z.string() }) },
    async (input) => ({ content: text(input.text) }),
  )
  server.registerTool('fail', { description: 'Fails.' }, async () => ({
    content: text('the cellar is locked'),
    isError: true,
  }))
  server.registerTool('picture', { description: 'A picture of one pixel.' }, async () => ({
    content: [{ type: 'image', data: DOT, mimeType: 'image/png' }],
  }))
  return server
}

const info = { name: 'garden', version: '2.1.0' }
const options = { instructions: 'Dig gently.' }

async function handlerOfV1() {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js')
  const { StreamableHTTPServerTransport } = await import(
    '@modelcontextprotocol/sdk/server/streamableHttp.js'
  )
  const { z } = await import('zod')
  const sessions = new Map()
  return async (request, response) => {
    const known = sessions.get(request.headers['mcp-session-id'])
    if (known) return known.handleRequest(request, response)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await withTools(new McpServer(info, options), z).connect(transport)
    await transport.handleRequest(request, response)
  }
}

async function handlerOfV2() {
  const { McpServer, createMcpHandler } = await import('@modelcontextprotocol/server')
  const { z } = await import('zod')
  const handler = createMcpHandler(() => withTools(new McpServer(info, options), z), {
    legacy: 'reject',
  })
  return async (request, response) => {
    const parts = []
    for await (const part of request) parts.push(part)
    const answer = await handler.fetch(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method,
        headers: request.headers,
        body: request.method === 'POST' ? Buffer.concat(parts) : undefined,
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    for await (const part of answer.body ?? []) response.write(part)
    response.end()
  }
}

const handle = generation === 'v1' ? await handlerOfV1() : await handlerOfV2()
const server = createServer((request, response) => {
  handle(request, response).catch((error) => {
    console.error(error)
    response.writeHead(500).end()
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/mcp`)
})
