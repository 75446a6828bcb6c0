import { expectAccessible, expectNoSidewaysScroll, useWorld } from './world'

const world = useWorld()

const make = (text: string, tool = 'echo') =>
  world.server.api('POST', `/api/tools/${tool}/run`, { input: { text } })

beforeAll(async () => {
  await world.server.echo('echo')
  await world.server.echo('other')
  await world.server.echo('careful', { permission_level: 'write' })
  await make('first')
  await make('second', 'other')
  await world.server.echo('many')
  for (let count = 0; count < 55; count++) await make(`many ${count}`, 'many')
})

test('filters are in the address and survive a reload', async () => {
  const page = await world.signedIn()
  await page.goto('/runs')
  const rows = page.getByRole('table').getByRole('link')
  await rows.nth(1).waitFor()
  await page.getByRole('combobox', { name: 'Tool' }).fill('other')
  await page.waitForURL('**/runs?tool=other')
  await page.getByLabel('Status').selectOption('Success')
  await page.getByLabel('Time').selectOption('Last hour')
  await page.waitForURL('**/runs?tool=other&status=success&range=1h')
  await expect.poll(() => rows.allTextContents()).toEqual(['other'])

  await page.reload()
  await expect.poll(() => rows.allTextContents()).toEqual(['other'])
  await expect.poll(() => page.getByLabel('Time').inputValue()).toBe('1h')

  await page.getByLabel('Status').selectOption('Failed')
  await page.getByText('No run matches these filters').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).last().click()
  await rows.nth(1).waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe('')
})

test('the list goes on where the first page ends', async () => {
  const page = await world.signedIn()
  await page.goto('/runs?tool=many')
  const rows = page.getByRole('table').getByRole('link')
  await rows.first().waitFor()
  await expect.poll(() => rows.count()).toBe(50)
  await page.getByRole('button', { name: 'Load more' }).click()
  await expect.poll(() => rows.count()).toBe(55)
  await expect.poll(() => page.getByRole('button', { name: 'Load more' }).count()).toBe(0)
})

test('the live tail shows a run that somebody else makes', async () => {
  const page = await world.signedIn()
  await page.goto('/runs?tool=echo')
  const rows = page.getByRole('table').getByRole('link')
  await rows.first().waitFor()
  const before = await rows.count()
  await page.getByRole('switch', { name: 'Live' }).check()
  await page.waitForURL('**/runs?tool=echo&live=true')
  await page.getByRole('heading', { level: 1 }).hover()
  const { run_id } = await make('from elsewhere')
  await expect.poll(() => rows.count()).toBe(before + 1)
  await expect.poll(() => rows.first().getAttribute('href')).toBe(`/runs/${run_id}`)
  await page.getByText('1 new run').waitFor({ state: 'attached' })
})

test('new runs wait while somebody reads', async () => {
  const page = await world.signedIn({ height: 500 })
  await page.goto('/runs?live=true')
  const rows = page.getByRole('table').getByRole('link')
  await rows.nth(40).scrollIntoViewIfNeeded()
  const place = await rows.nth(40).boundingBox()
  await make('behind your back')
  const button = page.getByRole('button', { name: '1 new run' })
  await button.waitFor()
  const held = await rows.nth(40).boundingBox()
  // The button itself takes its place above the list, which the browser makes up for.
  expect(Math.abs((held?.y ?? 0) - (place?.y ?? 0))).toBeLessThan(80)
  await button.click()
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0)
  await expect.poll(() => rows.first().textContent()).toBe('echo')
})

test('a run tells who, what, when, where the time went, and what came of it', async () => {
  const { run_id } = await make('the one')
  const page = await world.signedIn()
  await page.goto(`/runs/${run_id}`)
  await page.getByRole('heading', { level: 1, name: 'Run of echo' }).waitFor()
  await page.getByText('Running', { exact: true }).waitFor()
  await page.getByRole('region', { name: 'Result' }).getByText('the one').first().waitFor()
  await page.getByRole('region', { name: 'Events' }).getByText('Completed').waitFor()
  await page.getByRole('button', { name: 'Copy Run id' }).click()
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(run_id)
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Run again with changes' }).click()
  await page.waitForURL(`**/tools/echo?run=${run_id}`)
})

test('a run that waits is followed until it ends, and leads to its approval', async () => {
  const agent = await world.server.agentKey()
  const input = { text: 'please' }
  const parked = await world.server.api('POST', '/api/tools/careful/run', { input }, agent)
  const page = await world.signedIn()
  await page.goto(`/runs/${parked.run_id}`)
  await page.getByText('Waiting for approval', { exact: true }).waitFor()
  await expect
    .poll(() => page.getByRole('link', { name: 'Decide' }).getAttribute('href'))
    .toBe(`/approvals/${parked.approval_id}`)
  await world.server.api('POST', `/api/approvals/${parked.approval_id}/approve`, {})
  await page.getByRole('region', { name: 'Events' }).getByText('Completed').waitFor()
  await page.getByRole('region', { name: 'Result' }).getByText('please').first().waitFor()
  await expect.poll(() => page.getByRole('link', { name: 'Decide' }).count()).toBe(0)
})

test('a run that waits can be cancelled, after a second question', async () => {
  const agent = await world.server.agentKey('other-bot')
  const parked = await world.server.api('POST', '/api/tools/careful/run', { input: {} }, agent)
  const page = await world.signedIn()
  await page.goto(`/runs/${parked.run_id}`)
  await page.getByRole('button', { name: 'Cancel run' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('not needed')
  await dialog.getByRole('button', { name: 'Cancel run' }).click()
  await page.getByRole('heading', { level: 1 }).getByText('Cancelled').waitFor()
  const run = await world.server.api('GET', `/api/runs/${parked.run_id}`)
  expect(run.status).toBe('cancelled')
})

test('a run that does not exist is told so', async () => {
  world.expectComplaint(/404/)
  const page = await world.signedIn()
  await page.goto('/runs/01a1dfdb-7a93-70eb-927d-c47b3a3807c2')
  await page
    .getByRole('alert')
    .getByText(/Request id/)
    .waitFor()
})

test.each([1280, 390])('everyone can use the list, %i pixels wide', async (width) => {
  const page = await world.signedIn({ width })
  await page.goto('/runs?tool=echo&since=2026-01-01T00:00:00Z')
  await page.getByRole('link', { name: 'echo' }).first().waitFor()
  await expect.poll(() => page.getByRole('table').count()).toBe(width < 500 ? 0 : 1)
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test('a phone has room for a run', async () => {
  const { run_id } = await make('x'.repeat(500))
  const page = await world.signedIn({ width: 390 })
  await page.goto(`/runs/${run_id}`)
  await page.getByRole('region', { name: 'Events' }).getByText('Completed').waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test('a table wider than the page scrolls by itself, and shows that there is more', async () => {
  await world.server.echo('wide', { input_schema: { type: 'object' } })
  const row = Object.fromEntries(
    Array.from({ length: 14 }, (_, index) => [`column_${index}`, `value ${index}`]),
  )
  const input = { prices: [row, row] }
  const { run_id } = await world.server.api('POST', '/api/tools/wide/run', { input })
  const page = await world.signedIn({ width: 390 })
  await page.goto(`/runs/${run_id}`)
  const box = page.locator('[tabindex="0"]:has(> table)').first()
  await box.waitFor()
  const edges = box.locator('xpath=..').locator('[data-edge]')
  await expect.poll(() => edges.count()).toBe(1)
  await box.focus()
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => edges.count()).toBe(2)
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test('runs are in the order in which they started, also those that waited first', async () => {
  await world.server.echo('waits', { permission_level: 'write' })
  await world.server.echo('goes')
  const agent = await world.server.agentKey('patient')
  const parked = await world.server.api('POST', '/api/tools/waits/run', { input: {} }, agent)
  await make('between', 'goes')
  const page = await world.signedIn()
  await page.goto('/runs')
  const rows = page.getByRole('table').getByRole('link')
  await expect
    .poll(async () => (await rows.allTextContents()).slice(0, 2))
    .toEqual(['goes', 'waits'])
  await world.server.api('POST', `/api/approvals/${parked.approval_id}/approve`, {
    wait_ms: 20_000,
  })
  await page.reload()
  await expect
    .poll(async () => (await rows.allTextContents()).slice(0, 2))
    .toEqual(['waits', 'goes'])
})
