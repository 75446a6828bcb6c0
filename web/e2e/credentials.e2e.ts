import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'

import {
  allThere,
  expectAccessible,
  expectFocused,
  expectNoSidewaysScroll,
  said,
  useWorld,
} from './world'

const RIGHT = 'k-right-4711'
const WRONG = 'k-wrong-0815'

let upstream: Server

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const { 'x-api-key': usual, 'x-token': other } = request.headers
    response.statusCode = usual === RIGHT || other === RIGHT ? 200 : 401
    // A service that repeats what it was sent must not show it to anybody.
    response.end(JSON.stringify(request.headers))
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
})

afterAll(() => void upstream.close())

const host = () => `127.0.0.1:${(upstream.address() as AddressInfo).port}`

const world = useWorld(() => ({ TOOLWRIGHT_EGRESS__ALLOW: host() }))

const PASSWORD = 'correct horse battery staple'

const focused = (page: Page) => page.evaluate(() => document.activeElement?.id)
const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const secret = (page: Page) => page.getByLabel('API key', { exact: true })

/** The page of a credential that was made by the API. */
async function opened(page: Page, label: string) {
  const body = { label, type: 'api_key', payload: { api_key: RIGHT } }
  const { id } = await world.server.api('POST', '/api/credentials', body)
  await page.goto(`/admin/credentials/${id}`)
  await page.getByRole('heading', { name: label, level: 1 }).waitFor()
  return id as string
}

async function usedBy(slug: string, label: string) {
  const implementation = { url: `http://${host()}/`, headers: { 'X-Api-Key': `secret:${label}` } }
  await world.server.echo(slug, { implementation_type: 'http', implementation })
}

async function signedInAs(role: string, address: string) {
  const email = `${role}@example.com`
  const account = { email, display_name: role, role, password: PASSWORD }
  await world.server.api('POST', '/api/users', account)
  const page = await world.signedInAs(email, PASSWORD)
  await page.goto(address)
  return page
}

/** Nothing of what was typed is left where others could come across it. */
async function expectForgotten(page: Page, text: string) {
  const kept = () => {
    const boxes = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
      'input, textarea',
    )
    const typed = Array.from(boxes, (box) => box.value)
    const stored = [{ ...sessionStorage }, { ...localStorage }, location.href, history.state]
    return JSON.stringify([typed, stored, document.documentElement.outerHTML])
  }
  await expect.poll(() => page.evaluate(kept)).not.toContain(text)
}

test('a credential is made by keyboard, refused at its fields, tried, replaced, and deleted', async () => {
  const page = await world.signedIn()
  const lines: string[] = []
  page.on('console', (message) => lines.push(message.text()))
  await page.goto('/admin/tools')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Cred' }).click()
  await page.getByText('No credentials yet').waitFor()
  await page.getByText('"X-Api-Key": "secret:weather"').waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'New credential' }).press('Enter')

  await page.getByLabel('Label').fill('my weather')
  world.expectComplaint(/422/)
  await page.keyboard.press('Enter')
  await page.getByText('Only letters a–z, digits').waitFor()
  await expect.poll(() => focused(page)).toBe('credential-label')
  await expect
    .poll(() => page.locator('#credential-payload-api_key-fault').textContent())
    .toBe('This field is required.')
  await expect.poll(() => secret(page).getAttribute('aria-invalid')).toBe('true')
  await expectAccessible(page)

  await page.getByLabel('Label').fill('weather')
  await secret(page).fill(WRONG)
  await expect.poll(() => secret(page).getAttribute('type')).toBe('password')
  await page.getByRole('button', { name: 'Show API key' }).press('Space')
  await expect.poll(() => secret(page).getAttribute('type')).toBe('text')
  await page.getByLabel('Provider').fill('web_search')
  await page.getByLabel('Variant').fill('serper')
  await page.getByRole('button', { name: 'Save credential' }).press('Enter')
  await said(page, 'weather is saved')
  await page.getByRole('heading', { name: 'weather', level: 1 }).waitFor()
  await expectForgotten(page, WRONG)
  const [stored] = (await world.server.api('GET', '/api/credentials')).items
  expect(stored).toMatchObject({ label: 'weather', provider_key: 'web_search', revision: 1 })

  const test = part(page, 'Test')
  await test.getByLabel('Address').fill('nonsense')
  await test.getByRole('button', { name: 'Test' }).click()
  await test.getByText('This address cannot be used').waitFor()
  await expect.poll(() => focused(page)).toBe('credential-url')
  await test.getByLabel('Address').fill(`http://${host()}/me`)
  await test.getByRole('button', { name: 'Test' }).click()
  await test.getByText('The service rejected the credential.').waitFor()
  await test.getByText('HTTP 401').waitFor()
  await expectAccessible(page)

  const replace = part(page, 'Replace the secret')
  await replace.getByLabel('API key', { exact: true }).fill(RIGHT)
  await page.keyboard.press('Enter')
  await said(page, 'The secret of weather is replaced')
  await expect.poll(() => focused(page)).toBe('credential-replace')
  await expectForgotten(page, RIGHT)
  await test.getByRole('button', { name: 'Test' }).click()
  await test.getByText('The service accepted the credential.').waitFor()
  await test.getByLabel('Header (optional)').fill('X-Token')
  await test.getByRole('button', { name: 'Test' }).click()
  await test.getByText('HTTP 200').waitFor()
  await expectAccessible(page)

  await page.getByRole('main').getByRole('link', { name: 'Credentials' }).click()
  const row = page.getByRole('row', { name: /weather/ })
  await row.getByRole('cell', { name: 'web_search / serper', exact: true }).waitFor()
  await row.getByRole('cell', { name: '2', exact: true }).waitFor()
  await expect.poll(() => row.locator('time').getAttribute('title')).toBeTruthy()
  await row.getByRole('button', { name: 'Copy secret:weather' }).click()
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toBe('secret:weather')

  await row.getByRole('link', { name: 'weather' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await said(page, 'weather is deleted')
  await page.getByText('No credentials yet').waitFor()
  // The page on which it was deleted is gone, and the focus with it but for this.
  const heading = page.getByRole('heading', { name: 'Credentials', level: 1 })
  await expectFocused(heading)
  expect((await world.server.api('GET', '/api/credentials')).items).toEqual([])
  expect(lines.join(' ')).not.toMatch(new RegExp(`${RIGHT}|${WRONG}`))
})

test('what tools refer to is neither renamed nor deleted, and the tools are named', async () => {
  const page = await world.signedIn()
  await opened(page, 'relied-on')
  await usedBy('relying', 'relied-on')
  await page.reload()
  await part(page, 'Used by').getByRole('link', { name: 'relying' }).waitFor()
  world.expectComplaint(/409/)
  const identity = part(page, 'Label, hosts and provider')
  await identity.getByLabel('Label').fill('another')
  await identity.getByRole('button', { name: 'Save' }).click()
  const refused = identity.getByRole('alert')
  await refused.getByText('Cannot be renamed while these refer to it:').waitFor()
  await refused.getByRole('link', { name: 'relying' }).waitFor()
  await expectAccessible(page)
  await identity.getByLabel('Label').fill('relied-on')

  await page.getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('alert').getByText('Cannot be deleted while').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('link', { name: 'relying' }).click()
  await page.waitForURL('**/admin/tools/relying/edit?tab=execution')

  // From there the way leads back, beside what is typed.
  const [beside] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Manage credentials' }).click(),
  ])
  await beside.getByRole('link', { name: 'relied-on' }).waitFor()
})

test('a label that is taken is told at its field, and texts of the person’s choice are sent by name', async () => {
  const page = await world.signedIn()
  await opened(page, 'taken')
  await page.goto('/admin/credentials/new')
  await page.getByLabel('Label').fill('Taken')
  await page.getByLabel('Type').selectOption('custom')
  await page.getByLabel('Value of field 1', { exact: true }).fill('-----BEGIN\nsecond line')
  await page.getByRole('button', { name: 'Save credential' }).click()
  await page.getByText('Enter a name.').waitFor()
  await page.getByLabel('Name of field 1').fill('pem')
  await page.getByRole('button', { name: 'Add a field' }).press('Enter')
  await expect.poll(() => focused(page)).toBe('credential-row-2')
  await page.keyboard.type('key id')
  await page.getByLabel('Value of field 2', { exact: true }).fill('7')
  world.expectComplaint(/422|409/)
  await page.getByRole('button', { name: 'Save credential' }).click()
  await page.getByText('A name must have only letters a–z').waitFor()
  await expect.poll(() => focused(page)).toBe('credential-row-2')
  await expectAccessible(page)
  await page.getByLabel('Name of field 2').fill('key-id')
  await page.getByRole('button', { name: 'Save credential' }).click()
  await page.getByText('A credential with this label already exists.').waitFor()
  await expect.poll(() => focused(page)).toBe('credential-label')

  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stay' }).click()
  await page.getByLabel('Label').fill('signing')
  await page.getByRole('button', { name: 'Save credential' }).click()
  await said(page, 'signing is saved')
  await expectForgotten(page, 'second line')
  await part(page, 'Facts').getByText('key-id').waitFor()
  // Which of the two texts to send nobody can know.
  await part(page, 'Test').getByLabel('Address').fill(`http://${host()}/me`)
  await part(page, 'Test').getByRole('button', { name: 'Test' }).click()
  await part(page, 'Test')
    .getByRole('alert')
    .getByText('The credential has several fields')
    .waitFor()
})

test('whoever is slower is told, sees what it is now, and has typed nothing in vain', async () => {
  const page = await world.signedIn()
  const id = await opened(page, 'contested')
  const replace = part(page, 'Replace the secret')
  await replace.getByLabel('API key', { exact: true }).fill('k-mine')
  await world.server.api('PATCH', `/api/credentials/${id}`, { label: 'contested-2' })
  world.expectComplaint(/412/)
  await replace.getByRole('button', { name: 'Replace' }).click()
  await replace.getByText('Somebody else has changed this credential since you opened it').waitFor()
  await expectAccessible(page)
  await replace.getByRole('button', { name: 'Load the current state' }).click()
  await page.getByRole('heading', { name: 'contested-2', level: 1 }).waitFor()
  await expect
    .poll(() => part(page, 'Label, hosts and provider').getByLabel('Label').inputValue())
    .toBe('contested-2')
  await expect
    .poll(() => replace.getByLabel('API key', { exact: true }).inputValue())
    .toBe('k-mine')
  await replace.getByRole('button', { name: 'Replace' }).click()
  await said(page, 'The secret of contested-2 is replaced')
  expect((await world.server.api('GET', `/api/credentials/${id}`)).revision).toBe(2)
})

test('a credential is bound to hosts, refused at its line, and is tried nowhere else', async () => {
  const page = await world.signedIn()
  await page.goto('/admin/credentials/new')
  await page.getByLabel('Label').fill('bound')
  await secret(page).fill(RIGHT)
  await page.getByRole('switch', { name: 'Send it only to certain hosts' }).click()
  await expect.poll(() => focused(page)).toBe('credential-allowed_hosts')
  await page.keyboard.insertText('api.example.com\n\nhttps://example.org/')
  world.expectComplaint(/422/)
  await page.getByRole('button', { name: 'Save credential' }).click()
  await page.getByText('Line 3: This must be a host such as').waitFor()
  await expect.poll(() => focused(page)).toBe('credential-allowed_hosts')
  await expectAccessible(page)
  await page.getByLabel('Hosts', { exact: true }).fill('api.example.com\n*.example.org')
  await page.getByRole('button', { name: 'Save credential' }).click()
  await said(page, 'bound is saved')
  const hosts = part(page, 'Facts').getByRole('listitem')
  await expect.poll(() => hosts.allTextContents()).toEqual(['api.example.com', '*.example.org'])

  await part(page, 'Test').getByLabel('Address').fill(`http://${host()}/me`)
  await part(page, 'Test').getByRole('button', { name: 'Test' }).click()
  await part(page, 'Test').getByText('may not be sent to this host').waitFor()

  const identity = part(page, 'Label, hosts and provider')
  await identity.getByRole('switch', { name: 'Send it only to certain hosts' }).click()
  await identity.getByRole('button', { name: 'Save' }).click()
  await part(page, 'Facts').getByText('Any host').waitFor()
  const { items } = await world.server.api('GET', '/api/credentials')
  expect(items.find(({ label }: any) => label === 'bound').allowed_hosts).toBe(null)
})

test('a long list is searched', async () => {
  for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
    const payload = { token: `t-${number}` }
    const body = { label: `many-${number}`, type: 'bearer', payload }
    await world.server.api('POST', '/api/credentials', body)
  }
  const page = await world.signedIn()
  await page.goto('/admin/credentials')
  await page.getByRole('searchbox', { name: 'Search credentials' }).fill('many-7')
  await page.getByText('1 credential', { exact: true }).waitFor()
  await page.waitForURL('**q=many-7')
  await page.getByRole('searchbox', { name: 'Search credentials' }).fill('nothing like it')
  await page.getByText('No credentials match this search').waitFor()
})

test('a builder sees credentials and changes none; a member sees none', async () => {
  const maker = await world.signedIn()
  const id = await opened(maker, 'seen')
  const builder = await signedInAs('builder', '/admin/credentials')
  await builder.getByRole('link', { name: 'seen', exact: true }).waitFor()
  await expect.poll(() => builder.getByRole('link', { name: 'New credential' }).count()).toBe(0)
  await builder.getByRole('link', { name: 'seen', exact: true }).click()
  await builder.getByText('Only administrators can change credentials.').waitFor()
  await expect
    .poll(() => builder.getByRole('button', { name: /Delete|Replace|Test/ }).count())
    .toBe(0)
  await expectAccessible(builder)
  await builder.goto('/admin/credentials/new')
  await builder.getByText('Your role cannot change credentials').waitFor()

  const member = await signedInAs('member', `/admin/credentials/${id}`)
  await member.getByText('Your role cannot see credentials').waitFor()
  const main = member.getByRole('navigation', { name: 'Main' })
  await expect.poll(() => main.getByRole('link', { name: 'Credentials' }).count()).toBe(0)
  await expectAccessible(member)
})

describe('everyone can use every page, on a phone too', () => {
  let id: string

  beforeAll(async () => {
    const body = {
      label: 'x'.repeat(64),
      type: 'custom',
      payload: { ['y'.repeat(64)]: '1', z: '2' },
      provider_key: 'p'.repeat(64),
      allowed_hosts: [`${'h'.repeat(60)}.example.com`],
    }
    id = (await world.server.api('POST', '/api/credentials', body)).id
    await usedBy('everywhere', body.label)
  })

  test.each(['', '/new', '/id'])('/admin/credentials%s', async (address) => {
    for (const language of ['en', 'de']) {
      const page = await world.signedIn()
      await page.addInitScript((word) => localStorage.setItem('language', word), language)
      for (const width of [1280, 1024, 390]) {
        await page.setViewportSize({ width, height: 900 })
        await page.goto(`/admin/credentials${address.replace('id', id)}`)
        await page.getByRole('heading').first().waitFor()
        await allThere(page)
        if (address === '/new') await page.locator('#credential-type').selectOption('custom')
        await expectNoSidewaysScroll(page)
        await expectAccessible(page)
      }
    }
  })
})
