import type { Page } from 'playwright-core'

import {
  allThere,
  expectAccessible,
  expectNoSidewaysScroll,
  publishIt,
  said,
  useWorld,
  withoutNews,
} from './world'

const world = useWorld()

const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Parts of the tool' }).getByRole('link', { name }).click()
const edit = (page: Page, slug: string, search = '') =>
  page.goto(`/admin/tools/${slug}/edit${search}`)

/** Waits until what was typed differs from what is saved, or does not any more. */
const unsaved = (page: Page) => page.getByText('Unsaved changes', { exact: true }).waitFor()
const allSaved = (page: Page) => page.getByText('All saved').waitFor()

const focused = (page: Page) => page.evaluate(() => document.activeElement?.id)

test('a tool is made of fields, tried unsaved, published, and run from the library', async () => {
  const page = await world.signedIn()
  await page.goto('/admin/tools')
  await page.getByRole('link', { name: 'New tool' }).click()
  await page.getByRole('link', { name: 'Internal' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Order coffee')
  await page.getByText('This slug is free').waitFor()
  await page.getByLabel('Description').fill('Orders coffee for a meeting.')

  await tab(page, 'Schema')
  await page.getByRole('button', { name: 'Add a field' }).click()
  await page.getByLabel('Property').fill('guests')
  await page.getByLabel('Type').selectOption({ label: 'Number' })
  await page.getByLabel('Shown as').selectOption({ label: 'Whole number' })
  await page.getByRole('switch', { name: 'Required' }).click()
  await page.getByLabel('Minimum').fill('1')
  await page.getByRole('button', { name: 'Add a field' }).click()
  await page.getByLabel('Property').fill('kind')
  await page.getByLabel('Type').selectOption({ label: 'Choice' })
  await page.getByLabel('Value of choice 1').fill('filter')
  await page.getByLabel('Label of choice 1').fill('Filter coffee')
  await page.getByLabel('Value of choice 2').fill('espresso')
  await page.getByRole('button', { name: 'Move kind up' }).click()

  const panel = page.getByRole('region', { name: 'Preview and test' })
  await panel.getByLabel('Guests').fill('7')
  await panel.getByRole('button', { name: 'Test' }).click()
  await panel.getByText('Success').first().waitFor()
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Save & publish' }).click()
  await publishIt(page, 'Order coffee')
  await page.waitForURL('**/admin/tools/order-coffee/edit?tab=schema')
  const saved = await world.server.api('GET', '/api/tools/order-coffee')
  expect(saved.status).toBe('published')
  expect(Object.keys(saved.input_schema.properties)).toEqual(['kind', 'guests'])
  expect(saved.input_schema.properties.guests).toMatchObject({ type: 'integer', minimum: 1 })
  expect(saved.input_schema.properties.kind['x-enum-labels']).toEqual(['Filter coffee', null])
  expect(saved.input_schema.required).toEqual(['guests'])

  await page.getByRole('link', { name: 'Open' }).click()
  await page.waitForURL('**/tools/order-coffee')
  // The address comes before the page.
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
  await page.getByLabel('Guests').fill('3')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('Success').first().waitFor()
})

test('a change is a draft, is compared with what runs, gets a number, and is published', async () => {
  await world.server.echo('compared')
  const page = await world.signedIn()
  await edit(page, 'compared', '?tab=schema')
  await page.getByRole('button', { name: 'Add a field' }).click()
  await page.getByLabel('Property').fill('count')
  await page.getByRole('switch', { name: 'Required' }).click()
  await unsaved(page)
  await page.keyboard.press('Control+s')
  await said(page, 'compared is saved')
  await allSaved(page)
  const live = await world.server.api('POST', '/api/tools/compared/run', { input: { text: 'a' } })
  expect(live.status).toBe('success')

  await tab(page, 'Versions')
  await page.getByText('is required now').waitFor()
  await page.getByText('These changes break callers and need a major version.').first().waitFor()
  await page.getByRole('region', { name: 'Side by side' }).getByText('"count"').first().waitFor()
  await expect.poll(() => page.getByLabel('Number').inputValue()).toBe('2.0.0')
  await page.getByRole('button', { name: 'Set version' }).click()
  await said(page, 'Version 2.0.0 is set')
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await publishIt(page, 'compared')
  expect((await world.server.api('GET', '/api/tools/compared')).version).toBe('2.0.0')

  await page.getByLabel('From').selectOption('1.0.0')
  await page.waitForURL('**from=1.0.0**')
  await page.getByRole('button', { name: 'Restore revision 1' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
  await said(page, 'Revision 1 is the draft now')
  const restored = await world.server.api('GET', '/api/tools/compared')
  expect(restored.has_draft).toBe(true)
  expect(Object.keys(restored.input_schema.properties)).toEqual(['text'])
})

test('fields and JSON are two looks at one schema, and what fields cannot say stays', async () => {
  const input_schema = {
    type: 'object',
    properties: { who: { type: 'string', 'x-internal': true, minLength: 2 } },
    dependentRequired: { who: ['who'] },
  }
  await world.server.echo('looks', { input_schema })
  const page = await world.signedIn()
  await edit(page, 'looks', '?tab=schema')
  await page.getByRole('button', { name: /^who/ }).click()
  await page.getByLabel('Label').fill('Whom')
  await page.getByRole('link', { name: 'JSON' }).first().click()
  const json = page.getByRole('textbox', { name: 'Input schema' })
  await json.getByText('"Whom"').waitFor()
  await json.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('nonsense')
  await page.getByText('Your text is kept.').first().waitFor()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByRole('alert').getByText('Input schema').waitFor()
  await json.click()
  await page.keyboard.press('Control+End')
  for (const _ of 'nonsense') await page.keyboard.press('Backspace')
  await page.getByRole('link', { name: 'Fields' }).click()
  await page.getByRole('button', { name: /^who/ }).waitFor()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await said(page, 'looks is saved')
  const saved = await world.server.api('GET', '/api/tools/looks')
  expect(saved.input_schema).toEqual({
    ...input_schema,
    properties: { who: { ...input_schema.properties.who, title: 'Whom' } },
  })
})

test('whoever is slower sees what the other changed, and decides', async () => {
  await world.server.echo('contested')
  const ada = await world.signedIn()
  const bob = await world.signedIn()
  await edit(ada, 'contested')
  await edit(bob, 'contested')
  await ada.getByLabel('Name', { exact: true }).fill('By Ada')
  await bob.getByLabel('Description').fill('By Bob.')
  await bob.getByLabel('Name', { exact: true }).fill('By Bob')
  await ada.getByRole('button', { name: 'Save draft' }).click()
  await said(ada, 'By Ada is saved')

  world.expectComplaint(/412/)
  await bob.getByRole('button', { name: 'Save draft' }).click()
  const conflict = bob.getByRole('region', { name: 'Somebody else has changed this tool' })
  await conflict.getByText('"By Ada"').waitFor()
  await conflict.getByText('"By Bob"').waitFor()
  await expectAccessible(bob)
  await expect.poll(() => bob.getByLabel('Name', { exact: true }).inputValue()).toBe('By Bob')
  await conflict.getByRole('button', { name: 'Save mine' }).click()
  await said(bob, 'By Bob is saved')

  await ada.getByLabel('Name', { exact: true }).fill('Once more')
  await ada.getByRole('button', { name: 'Save draft' }).click()
  await ada.getByRole('button', { name: 'Discard mine' }).click()
  await allSaved(ada)
  await expect.poll(() => ada.getByLabel('Name', { exact: true }).inputValue()).toBe('By Bob')
  await expect.poll(() => ada.getByLabel('Description').inputValue()).toBe('By Bob.')
})

test('everything that is wrong is told at once, each with the way to it, and nothing is lost', async () => {
  const page = await world.signedIn()
  await page.goto('/admin/tools/new?kind=http')
  world.expectComplaint(/422/)
  await page.getByLabel('Slug').fill('not.ready')
  await page.getByRole('button', { name: 'Save draft' }).click()
  const told = page.getByRole('alert')
  await told.getByRole('button', { name: /^Address: / }).waitFor()
  const name = page.getByLabel('Name', { exact: true })
  await expect.poll(() => focused(page)).toBe(await name.getAttribute('id'))
  await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
  await expect.poll(() => page.locator('#part-name-fault').textContent()).toMatch(/^Enter a name/)
  await expectAccessible(page)
  await told.getByRole('button', { name: /^Address: / }).click()
  await page.waitForURL('**tab=execution**')
  await page.getByText('This field is required.').last().waitFor()
  await expect.poll(() => focused(page)).toBe('part-implementation-url')
  await tab(page, 'Identity')
  await expect.poll(() => page.getByLabel('Slug').inputValue()).toBe('not.ready')

  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stay' }).click()
  await expect.poll(() => page.getByLabel('Slug').inputValue()).toBe('not.ready')
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
  await page.waitForURL('**/runs')
})

test('what is wrong inside of a schema is told at its field', async () => {
  await world.server.echo('crooked')
  const page = await world.signedIn()
  await edit(page, 'crooked', '?tab=schema&as=json')
  const json = page.getByRole('textbox', { name: 'Input schema' })
  await json.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('{"type":"object","properties":{"who":{"type":"strong"}}}')
  await page.getByRole('link', { name: 'Fields' }).click()
  world.expectComplaint(/422/)
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page
    .getByRole('alert')
    .getByRole('button', { name: /^Input schema who/ })
    .waitFor()
  await expect.poll(() => focused(page)).toBe('part-input_schema-properties-who')
  await expectAccessible(page)
})

test('a sign-in that runs out takes nothing from what was typed', async () => {
  await world.server.echo('long-typed')
  const password = 'correct horse battery staple'
  const account = { email: 'ann@example.com', display_name: 'Ann', role: 'admin', password }
  await world.server.api('POST', '/api/users', account)
  world.expectComplaint(/401/)
  const page = await world.signedInAs(account.email, password)
  await withoutNews(page)
  await page.goto('/admin/tools/long-typed/edit')
  await page.getByLabel('Description').fill('Typed for an hour.')
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Save draft' }).click()

  const dialog = page.getByRole('dialog', { name: 'Session expired' })
  await dialog.getByLabel('Email').fill(account.email)
  await dialog.getByLabel('Password').fill('wrong')
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.getByText('the email or the password is wrong').waitFor()
  await expectAccessible(page)
  await dialog.getByLabel('Password').fill(password)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('Typed for an hour.')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await said(page, 'long-typed is saved')
  const saved = await world.server.api('GET', '/api/tools/long-typed')
  expect(saved.description).toBe('Typed for an hour.')
})

test('a secret is not shown, and stays what it was when something beside it changes', async () => {
  const headers = { 'X-Api-Key': 'very secret' }
  const implementation = { url: 'https://example.com/', headers }
  await world.server.echo('guarded', { implementation_type: 'http', implementation })
  const page = await world.signedIn()
  await edit(page, 'guarded', '?tab=execution')
  await expect.poll(() => page.getByLabel('Value of header 1').inputValue()).toBe('***')
  expect(await page.content()).not.toContain('very secret')
  await page.getByLabel('Timeout', { exact: true }).fill('4')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await said(page, 'guarded is saved')
  expect((await world.server.api('GET', '/api/tools/guarded')).timeout_ms).toBe(4000)
})

test('a tool of the program is adapted, switched off and on, and put back', async () => {
  const page = await world.signedIn()
  await page.goto('/admin/tools?q=quick')
  const enabled = page.getByRole('switch', { name: 'Quick Score: in the catalogue' })
  await enabled.click()
  await said(page, 'Quick Score is hidden from the catalogue')
  expect((await world.server.api('GET', '/api/tools/quick-score')).enabled).toBe(false)
  await page.getByRole('button', { name: 'Undo' }).click()
  await said(page, 'Quick Score is in the catalogue')
  expect((await world.server.api('GET', '/api/tools/quick-score')).enabled).toBe(true)

  await page.getByRole('link', { name: 'Quick Score' }).click()
  await page.waitForURL('**open=quick-score**')
  await page.getByRole('dialog').getByRole('link', { name: 'Customize' }).click()
  await page.getByText('This is a built-in tool.').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Fast Score')
  await tab(page, 'Visibility')
  await expect.poll(() => page.getByLabel('Required permission').isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await said(page, 'Fast Score is saved')

  await page.goto('/admin/tools?open=quick-score')
  await page.getByRole('button', { name: 'Remove customizations' }).click()
  await page
    .getByRole('dialog')
    .last()
    .getByRole('button', { name: 'Remove customizations' })
    .click()
  await said(page, 'The customizations of Fast Score are removed')
  expect((await world.server.api('GET', '/api/tools/quick-score')).kind).toBe('code')
})

test('a tool is cloned, and deleted', async () => {
  await world.server.echo('short-lived')
  const page = await world.signedIn()
  await page.goto('/admin/tools?open=short-lived')
  await page.getByRole('button', { name: 'Clone' }).click()
  await page.getByLabel('Slug', { exact: true }).fill('longer-lived')
  await page.getByRole('dialog').last().getByRole('button', { name: 'Clone' }).click()
  await page.waitForURL('**/admin/tools/longer-lived/edit')
  expect((await world.server.api('GET', '/api/tools/longer-lived')).status).toBe('draft')

  await page.goto('/admin/tools?open=short-lived')
  await page.getByText('A person’s own call needs no approval.').first().waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').last().getByRole('button', { name: 'Delete' }).click()
  await said(page, 'short-lived is deleted')
  await page.getByRole('link', { name: 'short-lived', exact: true }).waitFor({ state: 'detached' })
  await expect(world.server.api('GET', '/api/tools/short-lived')).rejects.toThrow('404')
})

test('somebody who may only run tools is told so', async () => {
  const password = 'correct horse battery staple'
  const account = { email: 'mem@example.com', display_name: 'Mem', role: 'member', password }
  await world.server.api('POST', '/api/users', account)
  const page = await world.signedInAs(account.email, password)
  await page.goto('/admin/tools')
  await page.getByText('You may not change tools').waitFor()
  await expectAccessible(page)
})

const surfaces = [
  '/admin/tools',
  '/admin/tools?q=nothing-like-this',
  '/admin/tools?open=everywhere',
  '/admin/tools/new',
  '/admin/tools/new?kind=http',
  ...['visibility', 'schema', 'schema&as=json', 'schema&side=layout', 'execution', 'versions'].map(
    (tab) => `/admin/tools/everywhere/edit?tab=${tab}`,
  ),
]

describe('everyone can use every page, on a phone too', () => {
  beforeAll(async () => {
    await world.server.echo('everywhere', { description: 'x'.repeat(300) })
    await world.server.api('PATCH', '/api/tools/everywhere', {
      input_schema: {
        type: 'object',
        properties: { list: { type: 'array', items: { type: 'object', properties: { a: {} } } } },
      },
    })
  })

  test.each(surfaces)('%s', async (address) => {
    const page = await world.signedIn()
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await page.goto(address)
      await page.getByRole('heading').first().waitFor()
      await allThere(page)
      await expectNoSidewaysScroll(page)
      await expectAccessible(page)
    }
  })
})
