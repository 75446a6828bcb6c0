import { drawn, expectAccessible, expectNoSidewaysScroll, useWorld } from './world'

const world = useWorld()

beforeAll(async () => {
  await world.server.echo('crm.update', {
    name: 'Update record',
    description: 'Changes one record.\n\nFor agents: ask first.',
    category: 'CRM',
    icon: 'database',
    tags: ['sales'],
    permission_level: 'write',
  })
  await world.server.echo('crm.wipe', {
    name: '<img src=x onerror=alert(1)>',
    category: 'CRM',
    icon: '__proto__',
    permission_level: 'destructive',
  })
  await world.server.api('POST', '/api/tools/crm.update/run', { input: { text: 'a' } })
})

test('search and filters are in the address and survive a reload', async () => {
  const page = await world.signedIn()
  await page.goto('/tools')
  await page.getByRole('link', { name: 'ROI Calculator' }).waitFor()
  await page.getByRole('button', { name: /^CRM/ }).click()
  await page.waitForURL('**/tools?category=CRM')
  await page.getByRole('button', { name: /^Changes data/ }).click()
  await page.getByText(/^1 of/).waitFor()

  await page.reload()
  await page.getByRole('link', { name: 'Update record' }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: 'ROI Calculator' }).count()).toBe(0)

  await page.getByRole('button', { name: 'Remove filter Effect: Changes data' }).click()
  await page.getByText(/^2 of/).waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe('?category=CRM')
})

test('typing searches, by the keyboard alone, and the back button is believed', async () => {
  const page = await world.signedIn()
  await page.goto('/tools')
  await page.getByRole('link', { name: 'Update record' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('sales')
  await page.waitForURL('**/tools?q=sales')
  await page.getByText(/^1 of/).waitFor()
  const card = page.getByRole('link', { name: 'Update record' })
  await card.focus()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/tools/crm.update')
  await page.goBack()
  await page.getByText(/^1 of/).waitFor()
  await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('sales')
})

test('the best match comes first, and a slip of the finger is forgiven', async () => {
  await world.server.echo('post.notes', { name: 'A notebook', description: 'Holds any record.' })
  const page = await world.signedIn()
  await page.goto('/tools?q=record')
  const first = page.getByRole('list', { name: 'Tools found' }).getByRole('listitem').first()
  await first.getByRole('link', { name: 'Update record' }).waitFor()
  await page.getByRole('combobox', { name: 'Order' }).selectOption('By name')
  await first.getByRole('link', { name: 'A notebook' }).waitFor()
  await page.getByRole('searchbox').fill('updaet recrod')
  await page.getByText(/^1 of/).waitFor()
  await first.getByRole('link', { name: 'Update record' }).waitFor()
})

test('a search without any match says so and offers a way out', async () => {
  const page = await world.signedIn()
  await page.goto('/tools?q=no-such-tool&category=CRM&view=table')
  await page.getByText('No tool matches').waitFor()
  await page.getByRole('button', { name: 'Clear search and filters' }).click()
  await page.getByRole('link', { name: /ROI Calculator/ }).waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe('?view=table')
})

test('the health of a tool is told in words, and what was used last can come first', async () => {
  const page = await world.signedIn()
  await page.goto('/tools?sort=recent')
  const first = page.getByRole('list', { name: 'Tools found' }).getByRole('listitem').first()
  await first.getByRole('link', { name: 'Update record' }).waitFor()
  await first.getByRole('img', { name: 'Last run: 1 succeeded, 0 failed' }).waitFor()
})

test('tests of a tool are no sign of its health, and a tool without runs has no such line', async () => {
  await world.server.echo('tried.only', { name: 'Tried only' })
  for (const text of ['one', 'two']) {
    await world.server.api('POST', '/api/tools/tried.only/test', { input: { text } })
  }
  const page = await world.signedIn()
  await page.goto('/tools')
  const list = page.getByRole('list', { name: 'Tools found' })
  const card = (name: string) =>
    list.getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: true }) })
  // By the time that one tool has its line, all have.
  await card('Update record')
    .getByRole('img', { name: /^Last run/ })
    .waitFor()
  await card('Tried only').waitFor()
  expect(await card('Tried only').getByRole('img', { name: /run/i }).count()).toBe(0)
  expect(
    await card('Tried only')
      .getByText(/runs?\b/i)
      .count(),
  ).toBe(0)
})

test('a search without a filter speaks of no filters', async () => {
  const page = await world.signedIn()
  await page.goto('/tools?q=no-such-tool')
  await page.getByText('No tool matches “no-such-tool”. Try another word.').waitFor()
  const main = page.getByRole('main')
  expect(await main.getByRole('button', { name: /^Clear.*filters/ }).count()).toBe(0)
  await main.getByRole('button', { name: 'Clear the search' }).click()
  await page.getByRole('link', { name: /ROI Calculator/ }).waitFor()
})

test('a name is text, and an icon that nobody has is the usual one', async () => {
  const page = await world.signedIn()
  await page.goto('/tools?category=CRM')
  await page.getByRole('link', { name: '<img src=x onerror=alert(1)>' }).waitFor()
  await expect.poll(() => page.locator('main img').count()).toBe(0)
})

test('an empty catalogue offers the first step', async () => {
  const page = await world.signedIn()
  await page.route('**/api/tools?*', (route) =>
    route.fulfill({ json: { items: [], next_cursor: null, total: 0 } }),
  )
  await page.goto('/tools')
  await page.getByRole('link', { name: 'Create a tool' }).waitFor()
})

test('thousands of tools are read page by page and drawn as far as one looks', async () => {
  const page = await world.signedIn()
  const { items } = await world.server.api('GET', '/api/tools?limit=1')
  const all = Array.from({ length: 3000 }, (_, place) => ({
    ...items[0],
    id: `id-${place}`,
    slug: `tool-${place}`,
    name: `Tool ${place}`,
  }))
  await page.route('**/api/tools?*', (route) => {
    const query = new URL(route.request().url()).searchParams
    const start = Number(query.get('cursor') ?? 0)
    const end = start + Number(query.get('limit'))
    const next_cursor = end < all.length ? String(end) : null
    return route.fulfill({ json: { items: all.slice(start, end), next_cursor, total: 3000 } })
  })
  await page.goto('/tools')
  await page.getByText('3000 of 3000').waitFor()
  await expect.poll(() => page.getByRole('heading', { level: 3 }).count()).toBeLessThan(300)
  await page.getByRole('searchbox').fill('tool-2999')
  await page.getByRole('link', { name: 'Tool 2999' }).waitFor()
  await page.getByText('1 of 3000').waitFor()
})

declare global {
  interface Window {
    /** How much of the page has moved by itself, as browsers count it. */
    moved: () => number
  }
}

/** Runs in the page, from its beginning. */
function countMoves() {
  let sum = 0
  const add = (entries: PerformanceEntryList) => {
    for (const move of entries as (PerformanceEntry & { value: number })[]) sum += move.value
  }
  const observer = new PerformanceObserver((list) => add(list.getEntries()))
  observer.observe({ type: 'layout-shift', buffered: true })
  window.moved = () => {
    add(observer.takeRecords())
    return sum
  }
}

test.each(['/tools', '/tools?sort=recent'])('nothing moves while %s is read', async (path) => {
  const page = await world.signedIn()
  await page.addInitScript(countMoves)
  const { items } = await world.server.api('GET', '/api/tools?limit=1')
  // What comes last belongs first.
  const all = Array.from({ length: 450 }, (_, place) => ({
    ...items[0],
    id: `id-${place}`,
    slug: `tool-${place}`,
    name: `Tool ${450 - place}`,
    category: `Category ${place % 7}`,
  }))
  await page.route('**/api/tools?*', async (route) => {
    const query = new URL(route.request().url()).searchParams
    const start = Number(query.get('cursor') ?? 0)
    const end = start + Number(query.get('limit'))
    const next_cursor = end < all.length ? String(end) : null
    // Nothing comes before all that came so far can be seen.
    await drawn(page)
    return route.fulfill({ json: { items: all.slice(start, end), next_cursor, total: 450 } })
  })
  await page.goto(path)
  await page.getByText('450 of 450').waitFor()
  await page.getByRole('link', { name: /^Tool 1$/ }).waitFor()
  await drawn(page)
  expect(await page.evaluate(() => window.moved())).toBeLessThan(0.05)
})

test.each(['/tools', '/tools?view=table'])('everyone can use %s', async (path) => {
  const page = await world.signedIn()
  await page.goto(path)
  await page.getByRole('link', { name: /ROI Calculator/ }).waitFor()
  await expectAccessible(page)
})

test.each(['/tools', '/tools?view=table'])('a phone has room for %s', async (path) => {
  const page = await world.signedIn({ width: 390 })
  await page.goto(path)
  await page.getByRole('link', { name: /ROI Calculator/ }).waitFor()
  await expectNoSidewaysScroll(page)
  await page.getByRole('button', { name: 'Filters' }).click()
  await page.getByRole('button', { name: /^Destructive/ }).click()
  await page.getByText(/^1 of/).waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})
