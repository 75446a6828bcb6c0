import type { Page } from 'playwright-core'

import { expectAccessible, expectNoSidewaysScroll, said, useWorld } from './world'

const world = useWorld()
const agents: Record<string, string> = {}

beforeAll(async () => {
  agents.analyst = await world.server.agentKey('analyst')
  agents.clerk = await world.server.agentKey('clerk')
  const input_schema = {
    type: 'object',
    properties: {
      record: { type: 'string', title: 'Record' },
      amount: { type: 'number', title: 'Amount due', 'x-unit': 'EUR' },
      urgent: { type: 'boolean', title: 'Urgent', default: false },
    },
    required: ['record', 'amount'],
  }
  await world.server.echo('pay', { name: 'Pay', permission_level: 'write', input_schema })
  await world.server.echo('wipe', { name: 'Wipe', permission_level: 'destructive', input_schema })
  await world.server.echo('look', {
    name: 'Look up',
    permission_level: 'read',
    permission_policy: 'always_ask',
    input_schema,
  })
})

interface Parked {
  run_id: string
  approval_id: string
}

const park = (tool: string, record: string, amount = 5, agent = 'analyst'): Promise<Parked> =>
  world.server.api('POST', `/api/tools/${tool}/run`, { input: { record, amount } }, agents[agent])

const group = (page: Page, sentence: string) =>
  page
    .getByRole('list', { name: 'Approvals' })
    .locator('> li')
    .filter({ has: page.getByRole('heading', { name: sentence }) })

test('requests are sentences, grouped with counts, with their values by label', async () => {
  await park('pay', 'invoice 1', 1200)
  await park('pay', 'invoice 2', 1300)
  await park('pay', 'invoice 3', 1400, 'clerk')
  const page = await world.signedIn()
  await page.goto('/approvals')
  const pays = group(page, 'analyst wants to run Pay (changes data)')
  await pays.getByText('2 requests').waitFor()
  await pays.getByRole('link', { name: /Record invoice 1 · Amount due 1,200 EUR$/ }).waitFor()
  await expect.poll(() => pays.textContent()).not.toContain('{')

  // By tool and by who asks, in the address.
  await page.getByLabel('Requested by').selectOption('clerk (1)')
  await page.waitForURL('**by=agent%3Aclerk**')
  await pays.waitFor({ state: 'detached' })
  await group(page, 'clerk wants to run Pay').waitFor()
  await page.reload()
  await group(page, 'clerk wants to run Pay').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await pays.waitFor()
  await page.goto('/approvals?tool=nothing')
  await page.getByText('No request matches these filters').waitFor()
  await expectAccessible(page)
})

test('several are approved at once, and what came of each is told', async () => {
  const parked = [await park('pay', 'batch 1'), await park('pay', 'batch 2')]
  const page = await world.signedIn()
  await page.goto('/approvals?tool=pay&by=agent:analyst')
  for (const record of ['batch 1', 'batch 2']) {
    const row = page.getByRole('listitem').filter({ hasText: record }).last()
    await row.getByRole('checkbox').check()
  }
  const bar = page.getByRole('region', { name: 'Selected requests' })
  await bar.getByText('2 selected').waitFor()
  await expectAccessible(page)
  await bar.getByRole('button', { name: 'Approve 2' }).click()
  const dialog = page.getByRole('dialog', { name: 'Approve 2 requests?' })
  await dialog.getByText('batch 2').waitFor()
  await expectAccessible(page)
  await dialog.getByLabel('Note').fill('both fine')
  await dialog.getByRole('button', { name: 'Approve 2' }).click()
  await said(page, '2 approved and run successfully.')
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('batch 1').waitFor({ state: 'detached' })
  for (const { approval_id } of parked) {
    const { status, note } = await world.server.api('GET', `/api/approvals/${approval_id}`)
    expect([status, note]).toEqual(['approved', 'both fine'])
  }
})

test('one that others decided meanwhile is told in its row, and the rest is decided', async () => {
  world.expectComplaint(/409/)
  const [mine, theirs] = [await park('pay', 'still mine'), await park('pay', 'taken')]
  const page = await world.signedIn()
  await page.goto('/approvals?tool=pay&by=agent:analyst')
  await page.getByRole('checkbox', { name: /^Select all: analyst wants to run Pay/ }).check()
  await page.getByRole('button', { name: /^Deny \d/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('taken').waitFor()
  await world.server.api('POST', `/api/approvals/${theirs.approval_id}/approve`, {})
  await dialog.getByRole('button', { name: /^Deny \d/ }).click()
  const row = dialog.getByRole('listitem').filter({ hasText: 'taken' })
  await row.getByText(/^Not decided: /).waitFor()
  await dialog
    .getByRole('listitem')
    .filter({ hasText: 'still mine' })
    .getByText('Denied', { exact: true })
    .waitFor()
  await said(page, '1 could not be decided.')
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  const { status } = await world.server.api('GET', `/api/approvals/${mine.approval_id}`)
  expect(status).toBe('denied')
})

test('what is destructive is never decided together with others', async () => {
  await park('wipe', 'first')
  await park('wipe', 'second')
  await park('look', 'third')
  const page = await world.signedIn()
  await page.goto('/approvals')
  const wipes = group(page, 'analyst wants to run Wipe (deletes or overwrites data)')
  await wipes.getByText('2 requests').waitFor()
  await expect.poll(() => wipes.getByRole('checkbox').count()).toBe(0)
  const looks = group(page, 'analyst wants to run Look up (read-only)')
  await expect.poll(() => looks.getByRole('checkbox').count()).toBe(1)
  // Nor by the keyboard.
  await wipes.getByRole('link').first().focus()
  await page.keyboard.press('x')
  await expect.poll(() => page.getByRole('region', { name: 'Selected requests' }).count()).toBe(0)
  await looks.getByRole('link').focus()
  await page.keyboard.press('x')
  await page.getByText('1 selected').waitFor()
})

test('a phone has room for the groups and for the selection', async () => {
  await park('pay', 'x'.repeat(400))
  const page = await world.signedIn({ width: 390 })
  await page.goto('/approvals')
  await page.getByRole('checkbox').first().check()
  await page.getByText('1 selected').waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test('a denied request and a test are called so among the runs, and can be filtered', async () => {
  const { approval_id, run_id } = await park('pay', 'no thanks')
  await world.server.api('POST', `/api/approvals/${approval_id}/deny`, { note: 'not now' })
  const input = { record: 'tried', amount: 1 }
  await world.server.api('POST', '/api/tools/look/test', { input })
  const page = await world.signedIn()
  await page.goto('/runs?tool=pay')
  await page.getByLabel('Status').selectOption('Denied')
  await page.waitForURL('**status=denied**')
  const rows = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'pay' }) })
  await rows.filter({ hasText: 'Denied' }).first().waitFor()
  await expect.poll(() => rows.filter({ hasNotText: 'Denied' }).count()).toBe(0)
  await page.goto(`/runs/${run_id}`)
  await page.getByRole('heading', { level: 1 }).getByText('Denied').waitFor()
  await page.getByText('not now').first().waitFor()
  expect(await page.getByText(/cancelled/i).count()).toBe(0)

  await page.goto('/runs')
  const look = page
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: 'look' }) })
    .filter({ has: page.getByText('Test', { exact: true }) })
  await look.first().waitFor()
  await page.getByLabel('Mode').selectOption('Production')
  await page.waitForURL('**mode=production**')
  await look.first().waitFor({ state: 'detached' })
  await page.getByLabel('Mode').selectOption('Test')
  await look.first().waitFor()
  await expectAccessible(page)
})
