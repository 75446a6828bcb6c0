import { stringify } from '~/api/exact'
import { isObject } from '~/features/result/json'

/** What stands where a person puts their own key. */
export const KEY = 'YOUR_API_KEY'

export interface Call {
  origin: string
  slug: string
  input: unknown
}

/** The ways to call a tool from elsewhere, as texts to copy. */
export const SNIPPETS = {
  curl: ({ origin, slug, input }: Call) =>
    [
      `curl -s ${shell(address(origin, slug))} \\`,
      `  -H ${shell(`Authorization: Bearer ${KEY}`)} \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d ${shell(stringify({ input }, 2))}`,
    ].join('\n'),

  typescript: ({ origin, slug, input }: Call) =>
    [
      `const response = await fetch(${JSON.stringify(address(origin, slug))}, {`,
      `  method: 'POST',`,
      `  headers: {`,
      `    Authorization: 'Bearer ${KEY}',`,
      `    'Content-Type': 'application/json',`,
      `  },`,
      `  body: ${typescriptBody({ input })},`,
      `})`,
      `const run = await response.json()`,
      `if (!response.ok) throw new Error(run.detail)`,
      `console.log(run.status, run.output)`,
    ].join('\n'),

  python: ({ origin, slug, input }: Call) =>
    [
      `import requests`,
      ``,
      `response = requests.post(`,
      `    ${JSON.stringify(address(origin, slug))},`,
      `    headers={"Authorization": "Bearer ${KEY}"},`,
      `    json=${indent(python({ input }), 4)},`,
      `    timeout=60,`,
      `)`,
      `response.raise_for_status()`,
      `run = response.json()`,
      `print(run["status"], run["output"])`,
    ].join('\n'),

  mcp_http: ({ origin }: Call) =>
    config({
      type: 'http',
      url: `${origin}/mcp`,
      headers: { Authorization: `Bearer ${KEY}` },
    }),

  mcp_stdio: ({ origin }: Call) =>
    config({
      command: 'toolwright',
      args: ['mcp'],
      env: { TOOLWRIGHT_URL: origin, TOOLWRIGHT_KEY: KEY },
    }),
} satisfies Record<string, (call: Call) => string>

export type SnippetName = keyof typeof SNIPPETS
export const SNIPPET_NAMES = Object.keys(SNIPPETS) as SnippetName[]

function address(origin: string, slug: string): string {
  return `${origin}/api/tools/${encodeURIComponent(slug)}/run`
}

function config(server: unknown): string {
  return JSON.stringify({ mcpServers: { toolwright: server } }, null, 2)
}

/** One word for a POSIX shell, whatever is in it. */
function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The body as a value to be read, or as text where JavaScript would round a number of it. */
function typescriptBody(body: unknown): string {
  const text = stringify(body)
  if (JSON.stringify(JSON.parse(text)) !== text) return JSON.stringify(text)
  return `JSON.stringify(${indent(stringify(body, 2), 2)})`
}

/** A JSON value as Python writes it. */
function python(value: unknown, depth = 0): string {
  const [here, inner] = [' '.repeat(depth * 4), ' '.repeat((depth + 1) * 4)]
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    const items = value.map((item) => `${inner}${python(item, depth + 1)},\n`)
    return `[\n${items.join('')}${here}]`
  }
  if (isObject(value)) {
    const entries = Object.entries(value)
    if (entries.length === 0) return '{}'
    const lines = entries.map(
      ([key, item]) => `${inner}${JSON.stringify(key)}: ${python(item, depth + 1)},\n`,
    )
    return `{\n${lines.join('')}${here}}`
  }
  return stringify(value)
}

/** Moves all lines but the first to the right. */
function indent(text: string, by: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(by)}`)
}
