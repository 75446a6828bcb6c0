import type { Page } from 'playwright-core'

import {
  expectAccessible,
  expectFocused,
  expectFocusIn,
  expectNoSidewaysScroll,
  publishIt,
  said,
  useWorld,
} from './world'

const world = useWorld()

const CITY = { city: { type: 'string', title: 'City' } }
const OLD = { type: 'object', properties: CITY }
const BREAKING = {
  type: 'object',
  properties: { ...CITY, country: { type: 'string' } },
  required: ['country'],
}

const made = (slug: string, definition = {}) =>
  world.server.echo(slug, {
    name: 'Forecast',
    input_schema: OLD,
    permission_level: 'read',
    ...definition,
  })

const change = (slug: string, changes: unknown) =>
  world.server.api('PATCH', `/api/tools/${slug}`, changes)

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Publish Forecast' })

test('a new tool is saved, and published after a look at what that means', async () => {
  const page = await world.signedIn()
  await page.goto('/admin/tools/new?kind=internal')
  await page.getByLabel('Name', { exact: true }).fill('Brand new')
  await page.getByLabel('Description').fill('Gives back its input.')
  await page.getByRole('button', { name: 'Save & publish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish Brand new' })
  await dialog.getByText('This is the first publication.').waitFor()
  await expectFocused(dialog.getByLabel('Version number'))
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect((await world.server.api('GET', '/api/tools/brand-new')).status).toBe('draft')
  await page.getByRole('button', { name: 'Publish', exact: true }).press('Enter')
  await expectFocusIn(dialog)
  await page.keyboard.press('Enter')
  await said(page, 'Brand new 1.0.0 is published')
  expect((await world.server.api('GET', '/api/tools/brand-new')).status).toBe('published')
})

test('what breaks callers is told first, gets a major number, or has to be confirmed', async () => {
  await made('broken')
  await change('broken', { input_schema: BREAKING, description: 'Says more.' })
  await world.server.api('POST', '/api/tools', {
    slug: 'caller',
    name: 'The caller',
    description: 'Calls it.',
    input_schema: { type: 'object', properties: {} },
    implementation_type: 'composition',
    execution_spec: { steps: [{ id: 'one', tool: 'broken', input: { country: 'AT' } }] },
  })
  const page = await world.signedIn()
  await page.goto('/admin/tools/broken/edit')
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  const dialog = dialogOf(page)
  const number = dialog.getByLabel('Version number')
  await expect.poll(() => number.inputValue()).toBe('2.0.0')
  const first = dialog.getByRole('listitem').first()
  expect(await first.innerText()).toContain('Breaking')
  await dialog.getByText('The caller').waitFor()
  await dialog.getByText('Published and draft side by side').click()
  await dialog.getByText('+ "description": "Says more."').first().waitFor()
  await expectAccessible(page)

  await number.fill('1.0.0')
  const publish = dialog.getByRole('button', { name: /^Publish/ })
  await dialog.getByText('is not a new major version').waitFor()
  expect(await publish.getAttribute('aria-disabled')).toBe('true')
  await expectAccessible(page)
  await number.fill('0.9.0')
  await dialog.getByText('Must be greater than 1.0.0').waitFor()
  await number.fill('1.1.0')
  await dialog.getByLabel('type broken').fill('broken')
  await publish.click()
  await said(page, 'Forecast 1.1.0 is published')
  const { items } = await world.server.api('GET', '/api/audit?limit=5')
  expect(JSON.stringify(items)).toContain('accept_breaking')
})

test('what was refused meanwhile lands at its place', async () => {
  await made('overtaken')
  await change('overtaken', { description: 'Better.' })
  const page = await world.signedIn()
  await page.goto('/admin/tools/overtaken/edit')
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  const dialog = dialogOf(page)
  await expect.poll(() => dialog.getByLabel('Version number').inputValue()).toBe('1.0.1')
  await change('overtaken', { input_schema: BREAKING })
  world.expectComplaint(/412/)
  await dialog.getByRole('button', { name: 'Publish 1.0.1' }).click()
  await dialog.getByText('Somebody else has changed this tool').waitFor()
  await dialog.getByRole('button', { name: 'Load the current state' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await expect.poll(() => dialog.getByLabel('Version number').inputValue()).toBe('2.0.0')
})

test('a failing test case keeps a draft from going live, unless somebody says so', async () => {
  await made('failing')
  await change('failing', { description: 'Better.' })
  await world.server.api('POST', '/api/tools/failing/tests', {
    name: 'Never so',
    input: { city: 'Graz' },
    expect: { contains: { args: { city: 'Linz' } } },
  })
  const page = await world.signedIn({ width: 390 })
  await page.goto('/admin/tools/failing/edit')
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  const dialog = dialogOf(page)
  await dialog.getByText('Not run yet').waitFor()
  world.expectComplaint(/409/)
  await dialog.getByRole('button', { name: 'Publish 1.0.1' }).click()
  await dialog.getByRole('row', { name: '/output/args/city' }).waitFor()
  await expectFocused(dialog.getByRole('heading', { name: 'Test cases' }))
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  const publish = dialog.getByRole('button', { name: 'Publish 1.0.1' })
  expect(await publish.getAttribute('aria-disabled')).toBe('true')
  await dialog.getByRole('button', { name: 'Run test cases' }).click()
  await dialog.getByText('Failed', { exact: true }).waitFor()
  await dialog.getByLabel('Publish although 1 test case fails').check()
  await publish.click()
  await said(page, 'Forecast 1.0.1 is published')
})

test('what would fail at the first call leads to its field', async () => {
  await made('doubtful', {
    implementation_type: 'http',
    implementation: { method: 'GET', url: 'https://example.com/{{ input.city }}' },
  })
  const page = await world.signedIn()
  await page.goto('/admin/tools/doubtful/edit?tab=execution')
  await page.getByLabel('Address').fill('https://example.com/{{ input.town }}')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('Saved, but 1 problem keeps it from being published').waitFor()
  await expectAccessible(page)
  await page
    .getByRole('navigation', { name: 'Parts' })
    .getByRole('link', { name: 'Identity' })
    .click()
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  const dialog = dialogOf(page)
  await dialog.getByText('Fix 1 problem before publishing').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: /^Address/ }).click()
  await dialog.waitFor({ state: 'detached' })
  await expectFocused(page.getByLabel('Address'))
  // Who comes by another way hears it from the server.
  await page.goto('/admin/tools?open=doubtful')
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  world.expectComplaint(/422/)
  await dialog.getByRole('button', { name: 'Publish 1.0.1' }).click()
  await dialog.getByRole('button', { name: /^Address/ }).click()
  await expectFocused(page.getByLabel('Address'))
})

test('advice of a save is told, and keeps nothing from going live', async () => {
  await made('advised')
  await change('advised', { description: 'Better.' })
  const page = await world.signedIn()
  await page.goto('/admin/tools/advised/edit?tab=schema&as=json')
  const box = page.getByRole('textbox', { name: 'Input schema' })
  await box.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('{"type": "object"}')
  await page.getByRole('button', { name: 'Save & publish' }).click()
  await publishIt(page, 'Forecast')
  await page.getByRole('note').getByText('1 suggestion').waitFor()
  await expectAccessible(page)
})

test('the list of tools publishes by the same dialog, in German too', async () => {
  await made('listed')
  await change('listed', { description: 'Better.' })
  const page = await world.signedIn({ theme: 'dark' })
  await page.addInitScript(() => localStorage.setItem('language', 'de'))
  await page.goto('/admin/tools?open=listed')
  await page.getByRole('button', { name: 'Veröffentlichen', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Forecast veröffentlichen' })
  await dialog.getByText('mindestens eine Patch-Version').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: '1.0.1 veröffentlichen' }).click()
  await said(page, 'Forecast 1.0.1 ist veröffentlicht')
})

test('what a switch saved does not keep a publication right after it from going through', async () => {
  await made('switched')
  await change('switched', { description: 'Better.' })
  const page = await world.signedIn()
  await page.goto('/admin/tools?q=switched&open=switched')
  const drawer = page.getByRole('dialog', { name: 'Forecast' })
  await drawer.getByRole('button', { name: 'Publish', exact: true }).waitFor()
  await page.keyboard.press('Escape')
  // Reading the tool again takes longer than a person needs.
  let go = () => {}
  const held = new Promise<void>((done) => {
    go = done
  })
  await page.route('**/api/tools/switched', async (route) => {
    if (route.request().method() === 'GET') await held
    await route.continue()
  })
  await page.getByRole('switch', { name: 'Forecast: active' }).click()
  await said(page, 'cannot be run any more')
  await page.getByRole('link', { name: 'Forecast' }).click()
  await drawer.getByRole('button', { name: 'Publish', exact: true }).click()
  await publishIt(page, 'Forecast')
  go()
})

test('any two revisions are compared, and each save says what it changed', async () => {
  await made('compared')
  await change('compared', { input_schema: BREAKING })
  await change('compared', { description: 'Better.' })
  const page = await world.signedIn()
  await page.goto('/admin/tools/compared/edit?tab=versions')
  await page.getByLabel('From').selectOption({ index: 4 })
  await page.getByRole('link', { name: 'What changed in revision 3' }).click()
  await page.getByText('+ "description": "Better."').waitFor()
  await page.getByText('These changes need a patch version.').first().waitFor()
  await expectFocused(page.getByRole('heading', { name: 'Compare' }))
  await page.getByRole('link', { name: 'What changed in revision 2' }).click()
  await page.getByText('Breaking').first().waitFor()
  expect(new URL(page.url()).searchParams.get('from')).toContain('1')
  await page.reload()
  await page.getByText('Breaking').first().waitFor()
  await expectAccessible(page)
})

test('recorded calls are replayed with the draft, and what differs is shown', async () => {
  await made('replayed')
  for (const city of ['Graz', 'Linz']) {
    await world.server.api('POST', '/api/tools/replayed/run', { input: { city } })
  }
  const page = await world.signedIn()
  await page.goto('/admin/tools/replayed/edit?tab=tests')
  const replay = page.getByRole('region', { name: 'Replay', exact: true })
  await replay.getByRole('button', { name: 'Replay recorded calls' }).click()
  await replay.getByText('2 calls give the same result.').waitFor()

  const withCountry = { ...CITY, country: { type: 'string', default: 'AT' } }
  await change('replayed', { input_schema: { type: 'object', properties: withCountry } })
  await page.reload()
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  const dialog = dialogOf(page)
  await dialog.getByRole('button', { name: 'Replay recorded calls' }).click()
  await dialog.getByText('2 calls differ.').waitFor()
  await dialog.getByText('"AT"').first().waitFor()
  await expectAccessible(page)
  await dialog.getByRole('link', { name: 'Recorded call of 1.0.0' }).first().click()
  await page.getByRole('heading', { name: 'Run of replayed' }).waitFor()
})

test('a tool that changes data is not replayed', async () => {
  await made('unreplayed', { permission_level: 'write' })
  const page = await world.signedIn()
  await page.goto('/admin/tools/unreplayed/edit?tab=tests')
  const replay = page.getByRole('region', { name: 'Replay', exact: true })
  await replay.getByText('This tool may change data.').waitFor()
  expect(await replay.getByRole('button').count()).toBe(0)
})

test('a number that is lower than what was added asks for is confirmed by hand too', async () => {
  await made('grown')
  const properties = { ...CITY, country: { type: 'string' } }
  await change('grown', { input_schema: { type: 'object', properties } })
  const page = await world.signedIn()
  await page.goto('/admin/tools/grown/edit')
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  const dialog = dialogOf(page)
  const number = dialog.getByLabel('Version number')
  await expect.poll(() => number.inputValue()).toBe('1.1.0')
  const publish = dialog.getByRole('button', { name: /^Publish/ })
  expect(await publish.getAttribute('aria-disabled')).toBeNull()
  await number.fill('1.0.1')
  await dialog.getByText('This version number is too low for these changes. Use 1.1.0.').waitFor()
  expect(await publish.getAttribute('aria-disabled')).toBe('true')
  await expectAccessible(page)
  await dialog.getByLabel('type grown').fill('grown')
  await publish.click()
  await said(page, 'Forecast 1.0.1 is published')
})

test('why a call was not replayed is said in German', async () => {
  await made('unasked', { input_schema: { type: 'object' } })
  await world.server.api('POST', '/api/tools/unasked/run', { input: { api_key: '***' } })
  const page = await world.signedIn()
  await page.addInitScript(() => localStorage.setItem('language', 'de'))
  await page.goto('/admin/tools/unasked/edit?tab=tests')
  await page.getByRole('button', { name: 'Letzte Aufrufe wiederholen' }).click()
  await page.getByText('Die Eingabe hat an der Stelle /api_key ein Geheimnis').waitFor()
  await expectAccessible(page)
})
