import type { Page } from 'playwright-core'

import { expectAccessible, expectNoSidewaysScroll, useWorld } from './world'

const world = useWorld()

beforeAll(async () => {
  await world.server.echo('first', { name: 'First tool' })
  await world.server.echo('second', { name: 'Second tool' })
  for (const slug of ['first', 'second', 'first']) {
    await world.server.api('POST', `/api/tools/${slug}/run`, { input: { text: slug } })
  }
})

const palette = (page: Page) => page.getByRole('dialog', { name: 'Go to' })

test('the palette leads to pages, tools and runs by a few letters', async () => {
  const page = await world.signedIn()
  await page.goto('/runs')
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await palette(page)
    .getByRole('option', { name: /^AI Readiness/ })
    .waitFor()
  await expectAccessible(page)
  await page.keyboard.type('second')
  await palette(page)
    .getByRole('option', { name: /^Second tool/, selected: true })
    .waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/tools/second')

  // From a field too, and down to a run.
  await page.getByLabel('Text').focus()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('first')
  const runs = palette(page).getByRole('group', { name: 'Recent runs' })
  await runs.getByRole('option').nth(1).waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/runs/*')

  await page.getByRole('button', { name: 'Go to…' }).click()
  await page.keyboard.type('no such thing')
  await palette(page).getByText('Nothing found').waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await palette(page).waitFor({ state: 'detached' })
})

test.each([
  ['/tools', 'Search'],
  ['/tools/first', 'Run the tool'],
  ['/runs', 'Next'],
  ['/approvals', 'Select or deselect'],
  ['/admin/tools', 'Go to a page, tool or run'],
])('%s tells its keys', async (path, text) => {
  const page = await world.signedIn()
  await page.goto(path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('?')
  const sheet = page.getByRole('dialog', { name: 'Shortcuts' })
  await sheet.getByText(text, { exact: true }).waitFor()
  await sheet.getByText('Show keyboard shortcuts').waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
})

test.each([
  ['/runs', 'data-run'],
  ['/tools', 'data-tool'],
])('j and k walk through %s', async (path, mark) => {
  const page = await world.signedIn()
  await page.goto(path)
  const rows = page.locator(`main [${mark}]`)
  await rows.nth(2).waitFor()
  const names = await rows.evaluateAll(
    (all, mark) => all.map((one) => one.getAttribute(mark)),
    mark,
  )
  const focused = () => page.evaluate((mark) => document.activeElement?.getAttribute(mark), mark)
  await page.keyboard.press('j')
  await expect.poll(focused).toBe(names[0])
  await page.keyboard.press('j')
  await expect.poll(focused).toBe(names[1])
  await page.keyboard.press('k')
  await expect.poll(focused).toBe(names[0])
  await page.keyboard.press('Enter')
  await page.waitForURL(`**${path}/${names[0]}`)
})

test('the tabs of a phone have words, and nothing scrolls sideways', async () => {
  const page = await world.signedIn({ width: 390 })
  await page.goto('/tools')
  const main = page.getByRole('navigation', { name: 'Main' })
  for (const word of ['Tools', 'Approvals', 'Runs', 'Manage', 'Credentials']) {
    const box = await main.getByText(word, { exact: true }).first().boundingBox()
    expect(box?.width, word).toBeGreaterThan(10)
  }
  await expectNoSidewaysScroll(page)
  await page.evaluate(() => localStorage.setItem('language', 'de'))
  await page.reload()
  await page.getByRole('navigation', { name: 'Hauptmenü' }).getByText('Zugänge').waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test('favourites and what was opened last stand above all tools', async () => {
  const page = await world.signedIn()
  await page.goto('/tools/second')
  await page.getByLabel('Text').waitFor()
  await page.goto('/tools')
  const recent = page.getByRole('region', { name: 'Recent' })
  await recent.getByRole('link', { name: 'Second tool' }).waitFor()
  await page.getByRole('button', { name: 'Add First tool to favourites' }).click()
  const favourites = page.getByRole('region', { name: 'Favourites' })
  await favourites.getByRole('link', { name: 'First tool' }).waitFor()
  await page.reload()
  await favourites.getByRole('link', { name: 'First tool' }).waitFor()
  await expectAccessible(page)
  // What everybody knows of every tool is not repeated on its card.
  const list = page.getByRole('list', { name: 'Tools found' })
  expect(await list.getByText('Published').count()).toBe(0)
  expect(await list.getByText('v1.0.0').count()).toBe(0)
  await page.getByRole('button', { name: 'Remove First tool from favourites' }).click()
  await favourites.waitFor({ state: 'detached' })
})
