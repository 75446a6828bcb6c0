import { parse } from '../src/features/form/json/json-pane'
import { FormModel } from '../src/features/form/model'
import { inputsFor } from './inputs'
import { Server } from './server'

const SEED = 20_261
const INPUTS = 60
const AT_ONCE = 8

let server: Server
/** The key of a person: what an agent sends is put right where it is plain what it meant. */
let key = ''

beforeAll(async () => {
  server = await Server.start()
  key = await server.command('keys', 'create', '--tenant', 'demo', '--role', 'member')
})
afterAll(() => server.end())

interface Verdict {
  /** Why the input was refused; nothing where it was taken. */
  refused?: string
  /** The properties at fault. */
  at: string[]
  /** What the tool itself said of an input that was taken: a schema cannot say everything. */
  failed?: string
}

function byForm(model: FormModel, value: unknown): Verdict {
  const faults = model.complaints(value)
  return { refused: faults.length > 0 ? 'form' : undefined, at: properties(faults) }
}

async function byRest(slug: string, input: string): Promise<Verdict> {
  const answer = await post(`/api/tools/${slug}/run`, `{"input":${input}}`)
  const { code, errors = [], status, error_code } = await answer.json()
  if (answer.status === 422) return { refused: code, at: properties(errors) }
  if (answer.status !== 200) throw new Error(`${answer.status} ${code} for ${slug} ${input}`)
  return { at: [], failed: status === 'error' ? error_code : undefined }
}

async function byMcp(slug: string, input: string): Promise<string | undefined> {
  const call = `{"name":${JSON.stringify(slug)},"arguments":${input}}`
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${call}}`
  const answer = await post('/mcp', body, {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  })
  const { result, error } = await answer.json()
  // A whole number too large to be kept is no JSON.
  if (error?.code === -32700) return 'INVALID_PARAMS'
  if (!result) throw new Error(`${JSON.stringify(error)} for ${slug} ${input}`)
  return result.isError ? /^[A-Z_]+/.exec(result.content[0].text)?.[0] : undefined
}

function post(path: string, body: string, headers: Record<string, string> = {}) {
  const known = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(server.url + path, { method: 'POST', headers: { ...known, ...headers }, body })
}

function properties(faults: { path: string }[]): string[] {
  return [...new Set(faults.map(({ path }) => path.split('/')[1] ?? ''))].sort()
}

interface Verdicts {
  form: Verdict
  rest: Verdict
  mcp?: string
}

async function verdicts(slug: string, model: FormModel, input: string): Promise<Verdicts> {
  const [rest, mcp] = await Promise.all([byRest(slug, input), byMcp(slug, input)])
  return { form: byForm(model, parse(input)?.value), rest, mcp }
}

function agree({ form, rest, mcp }: Verdicts): boolean {
  if (!form.refused !== !rest.refused || mcp !== (rest.refused ?? rest.failed)) return false
  // Of several that are missing the server names the first.
  if (rest.refused === 'MISSING_PARAM') return form.at.includes(rest.at[0] ?? '?')
  return form.at.join() === rest.at.join()
}

test('Form, REST and MCP accept and refuse the same generated inputs for every shipped tool', async () => {
  const { items } = await server.api('GET', '/api/tools?origin=code&limit=200')
  const slugs: string[] = items.map(({ slug }: { slug: string }) => slug)
  // What these take they do, some of them at other people's servers.
  const doers = ['manageTools', 'http_request', 'web_fetch', 'web_search']
  const shipped = slugs.filter((slug) => !doers.includes(slug))
  expect(shipped.length).toBeGreaterThanOrEqual(11)
  const count = { taken: 0, refused: 0 }
  for (const [index, slug] of shipped.entries()) {
    const tool = await server.api('GET', `/api/tools/${slug}`)
    const model = new FormModel(tool.input_schema, tool.form_spec)
    const typed = inputsFor(tool.input_schema, SEED + index, INPUTS)
    // The JSON side of the form sends what was typed, its fields what they have made of it.
    const sent = typed.map((text) => JSON.stringify(model.cleaned(model.filled(JSON.parse(text)))))
    const left = [...new Set([...typed, ...sent])]
    const different: unknown[] = []
    const work = async () => {
      for (let input = left.pop(); input !== undefined; input = left.pop()) {
        const { form, ...others } = await verdicts(slug, model, input)
        count[form.refused ? 'refused' : 'taken']++
        if (!agree({ form, ...others })) different.push({ slug, input, form, ...others })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    expect(different, `with the seed ${SEED + index}`).toEqual([])
  }
  expect(Math.min(count.taken, count.refused)).toBeGreaterThan(250)
})

test('a whole number may be written with a point, and means the same to all three', async () => {
  const { input_schema } = await server.api('GET', '/api/tools/roi-calculator')
  const model = new FormModel(input_schema, undefined)
  const input = (years: string) => `{"initialInvestment":100,"annualBenefit":60,"years":${years}}`
  const plain = await verdicts('roi-calculator', model, input('3'))
  expect(plain).toEqual({ form: { at: [] }, rest: { at: [] }, mcp: undefined })
  for (const years of ['3.0', '3e0', '0.3e1']) {
    expect(await verdicts('roi-calculator', model, input(years)), years).toEqual(plain)
  }
})

test('a whole number that is too large to be kept is refused by all three', async () => {
  const { input_schema } = await server.api('GET', '/api/tools/datetime_utils')
  const model = new FormModel(input_schema, undefined)
  for (const number of ['100000000000000000000', '-9223372036854775809', '18446744073709551616']) {
    const input = `{"operation":"parse","value":${number}}`
    const { form, rest, mcp } = await verdicts('datetime_utils', model, input)
    expect([!form.refused, rest.refused, mcp], number).toEqual([
      false,
      'INVALID_PARAMS',
      'INVALID_PARAMS',
    ])
  }
})
