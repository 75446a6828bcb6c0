import { mkdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'

import { useWorld } from './world'

// `npm run screenshots`: the pictures of the documentation and of every other page, of a real server with real calls on
// it. `npm run screenshots -- -t narrow` makes some of them.

/** What the documentation shows. */
const FOLDER = '../docs/images'
/** What is only looked at. */
const LOOKED_AT = '../target/screenshots'

/** An MCP server with tools to import, and a receiver of webhooks. */
let others: Server

const REMOTE = [
  ['search_notes', 'Finds notes by words, newest first.'],
  ['read_note', 'Gives back one note with its history.'],
  ['delete_note', 'Deletes a note for good.'],
].map(([name, description]) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { note: { type: 'string' } } },
  annotations: { readOnlyHint: name !== 'delete_note', destructiveHint: name === 'delete_note' },
}))

beforeAll(async () => {
  others = createServer((request, response) => {
    let text = ''
    request.on('data', (piece) => (text += piece))
    request.on('end', () => {
      const { id, method } = JSON.parse(text || '{}')
      if (id === undefined) return response.writeHead(202).end()
      const serverInfo = { name: 'notes', version: '3.0.1' }
      const hello = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
      const result = method === 'initialize' ? hello : { tools: REMOTE }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  await new Promise<void>((done) => others.listen(0, '127.0.0.1', done))
})

afterAll(() => void others.close())

const host = () => `127.0.0.1:${(others.address() as AddressInfo).port}`
const world = useWorld(() => ({ TOOLWRIGHT_EGRESS__ALLOW: host() }))

const REFUND = {
  slug: 'billing.refund',
  name: 'Refund an invoice',
  description: 'Pays the amount of an invoice back to the customer, all of it or a part.',
  category: 'billing',
  icon: 'credit-card',
  tags: ['billing', 'customers'],
  permission_level: 'write',
  input_schema: {
    type: 'object',
    properties: {
      invoice: { type: 'string', title: 'Invoice', pattern: '^INV-\\d{4}-\\d{4}$' },
      amount: { type: 'number', title: 'Amount', 'x-unit': 'EUR', exclusiveMinimum: 0 },
      reason: {
        type: 'string',
        title: 'Reason',
        enum: ['duplicate', 'not_delivered', 'goodwill', 'wrong_amount'],
      },
      message: { type: 'string', title: 'Message to the customer', maxLength: 1000 },
    },
    required: ['invoice', 'amount', 'reason'],
  },
}

const ONBOARD = {
  slug: 'hr.onboard',
  name: 'Onboard a colleague',
  description:
    'Orders what a new colleague needs on the first day, and tells those who have to know.',
  category: 'people',
  icon: 'users',
  tags: ['people'],
  permission_level: 'draft',
  input_schema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', minLength: 1 },
      start: { type: 'string', format: 'date', title: 'First day' },
      team: { type: 'string', title: 'Team', enum: ['Finance', 'Operations', 'Product', 'Sales'] },
      remote: { type: 'boolean', title: 'Works from home', default: false },
    },
    required: ['name', 'start', 'team'],
  },
}

const CUSTOMER = {
  slug: 'crm.customer',
  name: 'Look up a customer',
  description: 'Says who a customer is, since when, and what they bought last year.',
  category: 'sales',
  icon: 'search',
  tags: ['customers'],
  permission_level: 'read',
  input_schema: {
    type: 'object',
    properties: { customer: { type: 'string', title: 'Customer' } },
    required: ['customer'],
  },
}

/** A tool over HTTP; a picture of its panel is all that is wanted of it. */
const TRACK = {
  slug: 'shipping.track',
  name: 'Track a parcel',
  description: 'Says where a parcel is, and when it is expected to arrive.',
  category: 'shipping',
  icon: 'truck',
  tags: ['customers'],
  permission_level: 'read',
  implementation_type: 'http',
  implementation: {
    url: 'https://api.carrier.example/v2/parcels/{{ input.parcel }}',
    method: 'GET',
    query: { language: '{{ input.language }}' },
    headers: { 'X-Api-Key': 'secret:carrier' },
    response: '.parcel | {status, place, expected}',
    retry: { max: 2 },
  },
  input_schema: {
    type: 'object',
    properties: {
      parcel: { type: 'string', title: 'Parcel' },
      language: { type: 'string', title: 'Language', enum: ['en', 'de'], default: 'en' },
    },
    required: ['parcel'],
  },
}

const LEAD = {
  slug: 'sales.ask_lead',
  name: 'Ask the sales lead',
  description: 'A lead of the sales team looks at an offer and says whether it may go out.',
  category: 'sales',
  icon: 'users',
  tags: ['customers'],
  permission_level: 'read',
  implementation_type: 'space',
  timeout_ms: 3_600_000,
  input_schema: {
    type: 'object',
    properties: {
      customer: { type: 'string', title: 'Customer' },
      percent: { type: 'number', title: 'Discount', 'x-unit': '%' },
      reason: { type: 'string', title: 'Reason' },
    },
    required: ['customer', 'percent'],
  },
  output_schema: {
    type: 'object',
    properties: {
      agreed: { type: 'boolean', title: 'It may go out' },
      percent: { type: 'number', title: 'At most', 'x-unit': '%', minimum: 0, maximum: 30 },
      remark: { type: 'string', title: 'Remark' },
    },
    required: ['agreed'],
  },
}

const DISCOUNT = {
  slug: 'sales.discount',
  name: 'Offer a discount',
  description: 'Looks up the customer, asks the sales lead, and writes down what was agreed.',
  category: 'sales',
  icon: 'percent',
  tags: ['customers'],
  permission_level: 'draft',
  implementation_type: 'composition',
  timeout_ms: 3_600_000,
  input_schema: LEAD.input_schema,
  execution_spec: {
    kind: 'composition',
    steps: [
      { id: 'customer', tool: CUSTOMER.slug, input: { customer: '{{ input.customer }}' } },
      {
        id: 'lead',
        tool: LEAD.slug,
        input: {
          customer: '{{ input.customer }}',
          percent: '{{ input.percent }}',
          reason: '{{ input.reason }}',
        },
        when: 'input.percent > 5',
      },
    ],
    output: {
      customer: '{{ input.customer }}',
      agreed: '{{ steps.lead.output.agreed }}',
      percent: '{{ steps.lead.output.percent }}',
      remark: '{{ steps.lead.output.remark }}',
    },
  },
}

const offer = (customer: string, percent: number, reason: string) => ({
  input: { customer, percent, reason },
  wait_ms: 1_000,
})

const ROI = {
  initialInvestment: 120_000,
  annualBenefit: 68_000,
  annualCost: 9_000,
  years: 3,
  discountRate: 8,
  benefitGrowthRate: 4,
  currency: 'EUR',
}

const READINESS = {
  strategy: 4,
  data: 2.5,
  technology: 3,
  skills: 3,
  processes: 4,
  governance: 1.5,
  culture: 4,
  focus: 'regulated',
}

const refund = (invoice: string, amount: number, reason: string, message: string) => ({
  input: { invoice, amount, reason, message },
})

let approval = ''
let run = ''
let call = ''
let remote = ''
let webhook = ''

/** What the sales lead is asked about a customer. */
async function askedAbout(customer: string): Promise<{ id: string; run_id: string }> {
  const waits = async () => {
    const { items } = await world.server.api('GET', '/api/pending-calls')
    return items.find(({ input }: any) => input.customer === customer)
  }
  return vi.waitUntil(waits, { timeout: 20_000 })
}

beforeAll(async () => {
  const { server } = world
  const make = (slug: string, body: unknown, key?: string) =>
    server.api('POST', `/api/tools/${slug}/run`, body, key)
  await mkdir(FOLDER, { recursive: true })
  await mkdir(LOOKED_AT, { recursive: true })
  await server.echo(REFUND.slug, REFUND)
  await server.echo(ONBOARD.slug, ONBOARD)
  await server.echo(CUSTOMER.slug, CUSTOMER)
  const secret = { label: 'carrier', type: 'api_key', payload: { api_key: 'of-the-example' } }
  await server.api('POST', '/api/credentials', secret)
  await server.echo(TRACK.slug, TRACK)
  await server.echo(LEAD.slug, LEAD)
  await server.echo(DISCOUNT.slug, DISCOUNT)
  const properties = {
    ...ONBOARD.input_schema.properties,
    equipment: {
      type: 'array',
      title: 'Equipment',
      items: { type: 'string', enum: ['Laptop', 'Phone', 'Screen', 'Headset'] },
      uniqueItems: true,
    },
    buddy: { type: 'string', title: 'Buddy', description: 'Who shows them around.' },
  }
  await server.api('PATCH', `/api/tools/${ONBOARD.slug}`, {
    input_schema: { ...ONBOARD.input_schema, properties },
  })

  const agent = await server.agentKey('bookkeeper')
  const ask = (body: unknown) => make(REFUND.slug, body, agent)
  const twice = refund('INV-2026-0388', 89, 'duplicate', 'You were charged twice.')
  const first = await ask(twice)

  const seconds = { operation: 'format', value: 1_774_778_400, format: '%A, %d %B %Y' }
  const calls: [slug: string, times: number, input: unknown][] = [
    ['time-savings-calculator', 3, { minutesBefore: 30, minutesAfter: 12, runs: 10, people: 4 }],
    ['fte-impact-calculator', 2, { headcount: 12, reduction: 40, annualCostPerFte: 60_000 }],
    ['datetime_utils', 1, { operation: 'parse', value: 'soon' }],
    ['datetime_utils', 4, seconds],
    ['ai-readiness-assessment', 2, READINESS],
    ['roi-calculator', 5, ROI],
  ]
  for (const [slug, times, input] of calls) {
    for (let time = 0; time < times; time++) await make(slug, { input })
  }

  await server.api('POST', `/api/approvals/${first.approval_id}/approve`, {
    input: { ...twice.input, amount: 44.5 },
    note: 'Half of it went back last week.',
    wait_ms: 10_000,
  })
  const third = await ask(refund('INV-2026-0399', 19.9, 'goodwill', 'A small thank you.'))
  await server.api('POST', `/api/approvals/${third.approval_id}/approve`, {
    standing: { for_s: 28_800, fields: ['/reason'] },
    wait_ms: 10_000,
  })
  await ask(refund('INV-2026-0401', 25, 'goodwill', 'Thank you for waiting.'))
  const denied = await ask(refund('INV-2026-0402', 4_800, 'wrong_amount', 'As agreed by phone.'))
  const why = { note: 'Please ask the account manager first.' }
  await server.api('POST', `/api/approvals/${denied.approval_id}/deny`, why)
  await ask(refund('INV-2026-0407', 1_250, 'wrong_amount', 'The discount was missing.'))
  const told = 'The parcel never arrived, and we are sorry. The money is back in two days.'
  const second = await ask(refund('INV-2026-0412', 249.9, 'not_delivered', told))
  approval = second.approval_id

  const loyal = 'Eleven years with us, and they have asked a competitor too.'
  const chain = await make(DISCOUNT.slug, offer('Nordlicht GmbH', 12, loyal))
  const { id: call_id, run_id } = await askedAbout('Nordlicht GmbH')
  const result = { agreed: true, percent: 10, remark: 'Ten, if they stay for two years.' }
  await server.api('POST', `/api/runs/${run_id}/tool-results`, { call_id, result })
  run = chain.run_id
  await make(DISCOUNT.slug, offer('Hafenkontor AG', 18, 'The order is four times the usual one.'))
  call = (await askedAbout('Hafenkontor AG')).id

  const test = {
    name: 'Remote colleague',
    input: { name: 'Ada', start: '2026-12-01', team: 'Sales' },
  }
  await server.api('POST', `/api/tools/${ONBOARD.slug}/tests`, { ...test, expect: {} })
  const notes = { name: 'notes', url: `http://${host()}/mcp` }
  const { id } = await server.api('POST', '/api/mcp-servers', notes)
  remote = id
  await server.api('POST', `/api/mcp-servers/${id}/refresh`)
  await server.api('POST', `/api/mcp-servers/${id}/import`, { tools: ['search_notes'] })
  const hook = {
    url: `http://${host()}/hooks/toolwright`,
    events: ['run.failed', 'tool.published'],
  }
  webhook = (await server.api('POST', '/api/webhooks', hook)).id
  await server.api('POST', `/api/webhooks/${webhook}/test`)
})

const result = (page: Page) => page.getByRole('region', { name: 'Result', exact: true })

async function runTool(page: Page, slug: string, input: unknown, chart: RegExp) {
  await page.goto(`/tools/${slug}?input=${encodeURIComponent(JSON.stringify(input))}`)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const drawn = result(page).getByRole('img', { name: chart })
  await drawn.locator('svg text').first().waitFor()
  // So high that form and chart are seen at once, from the head of the page on.
  const { width = 0 } = page.viewportSize() ?? {}
  if (width > 1000) await page.setViewportSize({ width, height: 1250 })
  else await drawn.evaluate((chart) => chart.scrollIntoView({ block: 'end' }))
  await page.evaluate(() => innerWidth > 1000 && scrollTo(0, 0))
  await page.mouse.move(0, 0)
}

/** The panel of a tool's kind, right below the bar that stays in sight. */
async function editorPanel(page: Page, slug: string, name: string) {
  await page.goto(`/admin/tools/${slug}/edit?tab=execution`)
  const panel = page.getByRole('region', { name, exact: true })
  await panel.getByRole('textbox').first().waitFor()
  await page.locator('.animate-pulse').first().waitFor({ state: 'detached' })
  await panel.evaluate((panel) => scrollTo(0, panel.getBoundingClientRect().top - 144))
}

/** What is in the documentation, wide. */
const SHOWN: Record<string, (page: Page) => Promise<void>> = {
  library: async (page) => {
    await page.goto('/tools')
    await page.getByRole('link', { name: 'ROI Calculator' }).first().waitFor()
  },
  'tool-roi': (page) => runTool(page, 'roi-calculator', ROI, /^Cumulative cash flow/),
  'tool-readiness': (page) => runTool(page, 'ai-readiness-assessment', READINESS, /./),
  approval: async (page) => {
    await page.goto(`/approvals/${approval}#edit`)
    await page.getByLabel('Amount').fill('199.9')
  },
  run: async (page) => {
    await page.goto(`/runs/${run}`)
    await page.getByText('Ten, if they stay').first().waitFor()
  },
  inbox: async (page) => {
    await page.goto('/approvals')
    await page.getByText('INV-2026-0412').waitFor()
  },
  answer: async (page) => {
    await page.goto(`/approvals/answers/${call}`)
    await page.getByRole('radio', { name: 'Yes' }).check()
    await page.getByLabel('At most').fill('15')
    await page.getByLabel('Remark').fill('Fifteen, and we deliver in two parts.')
    await page.evaluate(() => scrollTo(0, 0))
  },
  editor: async (page) => {
    await page.goto(`/admin/tools/${ONBOARD.slug}/edit?tab=schema`)
    await page.getByRole('region', { name: 'Preview and test' }).getByLabel('Buddy').waitFor()
  },
  'editor-http': (page) => editorPanel(page, TRACK.slug, 'Request'),
  'editor-chain': (page) => editorPanel(page, DISCOUNT.slug, 'Tools to run'),
}

/** Opens a page, and waits until it has this. */
const opened = (path: string | (() => string), text: string | RegExp) => async (page: Page) => {
  await page.goto(typeof path === 'string' ? path : path())
  await page.getByText(text).first().waitFor()
}

const edited = (tab: string, text: string | RegExp) =>
  opened(`/admin/tools/${ONBOARD.slug}/edit?tab=${tab}`, text)

const listed = (path: string) => async (page: Page) => {
  await page.goto(path)
  await page.getByRole('link', { name: REFUND.slug }).first().waitFor()
}

const titled = (path: string, heading: string) => async (page: Page) => {
  await page.goto(path)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
}

const ALSO: Record<string, (page: Page) => Promise<void>> = {
  runs: listed('/runs'),
  'runs-denied': listed('/runs?status=denied'),
  answers: opened('/approvals/answers', 'Hafenkontor AG'),
  standing: opened('/approvals/standing', 'bookkeeper'),
  manage: opened('/admin/tools', 'Onboard a colleague'),
  drawer: opened(`/admin/tools?open=${REFUND.slug}`, 'All checks'),
  'new-tool': opened('/admin/tools/new', 'Composition'),
  'editor-identity': edited('identity', 'Description'),
  'editor-versions': edited('versions', 'Compare'),
  'editor-tests': edited('tests', 'Remote colleague'),
  'editor-preview': edited('preview', 'OpenAPI operation'),
  publish: async (page) => {
    await page.goto(`/admin/tools/${ONBOARD.slug}/edit`)
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Version number').waitFor()
  },
  menu: async (page) => {
    await page.goto('/tools')
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menu').waitFor()
  },
  credentials: opened('/admin/credentials', 'carrier'),
  'credential-new': opened('/admin/credentials/new', 'Label'),
  'mcp-servers': opened('/admin/mcp-servers', 'notes'),
  'mcp-server': opened(() => `/admin/mcp-servers/${remote}`, 'delete_note'),
  webhooks: opened('/admin/webhooks', '/hooks/toolwright'),
  webhook: opened(() => `/admin/webhooks/${webhook}`, 'webhook.test'),
  docs: titled('/docs', 'Toolwright'),
  'docs-error': titled('/docs/errors/NEEDS_APPROVAL', 'NEEDS_APPROVAL'),
  'docs-api': opened('/docs/api/run_tool', 'Try it'),
}

const PAGES = { ...SHOWN, ...ALSO }

async function picture(page: Page, path: string, go?: (page: Page) => Promise<void>) {
  await go?.(page)
  await page.waitForLoadState('networkidle')
  await page.evaluate(() => document.fonts.ready)
  await page.screenshot({ path, caret: 'hide' })
}

for (const theme of ['light', 'dark'] as const) {
  test.each(Object.keys(PAGES))(`%s, ${theme}`, async (name) => {
    const page = await world.signedIn({ theme, width: 1280, height: 800 })
    const folder = name in SHOWN ? FOLDER : LOOKED_AT
    await picture(page, `${folder}/${name}-${theme}.png`, PAGES[name])
  })

  test(`sign-in, ${theme}`, async () => {
    const page = await world.stranger({ theme, width: 1280, height: 800 })
    await picture(page, `${LOOKED_AT}/sign-in-${theme}.png`, opened('/sign-in', 'Password'))
  })
}

test.each(Object.keys(PAGES))('%s, narrow', async (name) => {
  const page = await world.signedIn({ width: 390, height: 844 })
  await picture(page, `${LOOKED_AT}/${name}-narrow.png`, PAGES[name])
})

test.each(['library', 'approval', 'inbox', 'manage', 'editor', 'drawer'])(
  '%s, German',
  async (name) => {
    const page = await world.signedIn({ width: 1280, height: 800 })
    await page.addInitScript(() => localStorage.setItem('language', 'de'))
    const paths: Record<string, string> = {
      library: '/tools',
      approval: `/approvals/${approval}`,
      inbox: '/approvals',
      manage: '/admin/tools',
      editor: `/admin/tools/${ONBOARD.slug}/edit?tab=schema`,
      drawer: `/admin/tools?open=${REFUND.slug}`,
    }
    await picture(page, `${LOOKED_AT}/${name}-german.png`, (page) =>
      page.goto(paths[name] ?? '/').then(),
    )
  },
)
