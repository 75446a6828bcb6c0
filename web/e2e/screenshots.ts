import { mkdir } from 'node:fs/promises'
import type { Page } from 'playwright-core'

import { useWorld } from './world'

// `npm run screenshots`: the pictures of the documentation, of a real server with real calls on it.

const FOLDER = '../docs/images'

const world = useWorld()

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

beforeAll(async () => {
  const { server } = world
  const make = (slug: string, body: unknown, key?: string) =>
    server.api('POST', `/api/tools/${slug}/run`, body, key)
  await mkdir(FOLDER, { recursive: true })
  await server.echo(REFUND.slug, REFUND)
  await server.echo(ONBOARD.slug, ONBOARD)
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
  run = first.run_id
  await ask(refund('INV-2026-0407', 1_250, 'wrong_amount', 'The discount was missing.'))
  const told = 'The parcel never arrived, and we are sorry. The money is back in two days.'
  const second = await ask(refund('INV-2026-0412', 249.9, 'not_delivered', told))
  approval = second.approval_id
})

const result = (page: Page) => page.getByRole('region', { name: 'Result', exact: true })

async function runTool(page: Page, slug: string, input: unknown, chart: RegExp) {
  await page.goto(`/tools/${slug}?input=${encodeURIComponent(JSON.stringify(input))}`)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const drawn = result(page).getByRole('img', { name: chart })
  await drawn.locator('svg text').first().waitFor()
  // As far down as it takes to see the form and the chart at once.
  await drawn.evaluate((chart) => chart.scrollIntoView({ block: 'end' }))
  await page.mouse.move(0, 0)
}

const PAGES: Record<string, (page: Page) => Promise<void>> = {
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
    await page.getByText('INV-2026-0388').first().waitFor()
  },
  editor: async (page) => {
    await page.goto(`/admin/tools/${ONBOARD.slug}/edit?tab=schema`)
    await page.getByRole('region', { name: 'Preview and test' }).getByLabel('Buddy').waitFor()
  },
}

for (const theme of ['light', 'dark'] as const) {
  test.each(Object.keys(PAGES))(`%s, ${theme}`, async (name) => {
    const page = await world.signedIn({ theme, width: 1280, height: 800 })
    await PAGES[name]?.(page)
    await page.waitForLoadState('networkidle')
    await page.evaluate(() => document.fonts.ready)
    await page.screenshot({ path: `${FOLDER}/${name}-${theme}.png`, caret: 'hide' })
  })
}
