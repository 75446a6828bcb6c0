import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'

import { expectAccessible, expectFocused, expectNoSidewaysScroll, said, useWorld } from './world'

let upstream: Server
/** What the service was sent last. */
let last: { url?: string; method?: string; headers: Record<string, unknown>; body: string }

// The server is told which host it may call before it starts, so the service is there first.
upstream = createServer((request, answer) => {
  let body = ''
  request.on('data', (part) => {
    body += part
  })
  request.on('end', () => {
    last = { url: request.url, method: request.method, headers: request.headers, body }
    answer.setHeader('content-type', 'application/json')
    answer.end('{"current":{"temperature":21.5,"wind":{"speed":3}},"days":[{"high":25}]}')
  })
})
await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
const host = `127.0.0.1:${(upstream.address() as AddressInfo).port}`

const world = useWorld(() => ({ TOOLWRIGHT_EGRESS__ALLOW: host }))

afterAll(() => upstream.close())

const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Parts of the tool' }).getByRole('link', { name }).click()

test('a curl command becomes a tool, its secret a credential that is not shown again', async () => {
  const page = await world.signedIn()
  await page.goto('/admin/tools/new?kind=http')
  await page.getByLabel('Name', { exact: true }).fill('Add a note')
  await page.getByLabel('Description').fill('Adds a note to a city.')
  await tab(page, 'Execution')
  await page.getByRole('button', { name: 'Paste a curl command' }).click()
  const dialog = page.getByRole('dialog', { name: 'Paste a curl command' })
  const command = dialog.getByLabel('curl command')
  await command.fill('curl https://example.com -F file=@cat.png')
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByText('Uploads of files (multipart) are not supported.').first().waitFor()
  await expectAccessible(page)
  await command.fill(
    `curl 'http://${host}/v1/cities/vienna/notes?lang=de' -H 'X-Api-Key: very-secret-1234' \\
      -H 'sec-fetch-mode: cors' --data-raw $'{"text":"it\\'s warm","stars":4}' -H 'content-type: application/json'`,
  )
  await dialog.getByRole('button', { name: 'Continue' }).press('Enter')
  await dialog.getByText('sec-fetch-mode').waitFor()
  expect(await page.content()).not.toContain('very-secret-1234')
  await dialog.getByRole('checkbox', { name: '/vienna' }).check()
  await dialog.getByLabel('Name of the input for /vienna').fill('city')
  await dialog.getByRole('checkbox', { name: /^text/ }).check()
  await dialog.getByRole('checkbox', { name: /^stars/ }).check()
  await dialog.getByLabel('Label').fill('notes')
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Fill in' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect
    .poll(() => page.getByLabel('Address').inputValue())
    .toBe(`http://${host}/v1/cities/{{ input.city }}/notes`)
  await expect.poll(() => page.getByLabel('Value of header 1').inputValue()).toBe('secret:notes')

  const panel = page.getByRole('region', { name: 'Preview and test' })
  await panel.getByLabel('City').fill('graz')
  await panel.getByLabel('Text').fill('cold')
  await panel.getByLabel('Stars').fill('2')
  await panel.getByRole('button', { name: 'Test', exact: true }).click()
  await panel.getByText('Success').first().waitFor()
  expect(last).toMatchObject({ method: 'POST', url: '/v1/cities/graz/notes?lang=de' })
  expect(last.headers['x-api-key']).toBe('very-secret-1234')
  expect(JSON.parse(last.body)).toEqual({ text: 'cold', stars: 2 })

  await page.getByRole('button', { name: 'Save draft' }).click()
  await said(page, 'Add a note is saved')
  const saved = await world.server.api('GET', '/api/tools/add-a-note')
  expect(saved.input_schema.required).toEqual(['city', 'text', 'stars'])
  expect(saved.input_schema.properties.stars.type).toBe('integer')
  const { items } = await world.server.api('GET', '/api/credentials')
  expect(items).toMatchObject([{ label: 'notes', type: 'api_key', allowed_hosts: ['127.0.0.1'] }])
})

test('a curl command is read on a phone', async () => {
  const page = await world.signedIn({ width: 390 })
  await page.goto('/admin/tools/new?kind=http&tab=execution')
  await page.getByRole('button', { name: 'Paste a curl command' }).click()
  const dialog = page.getByRole('dialog')
  await dialog
    .getByLabel('curl command')
    .fill(
      `curl https://api.example.com/v1/a/${'long'.repeat(30)} -u me:pw -d a=1 -d b=${'x'.repeat(200)}`,
    )
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByRole('checkbox', { name: /^a\b/ }).first().check()
  await expectNoSidewaysScroll(page)
  const beyond = () => dialog.evaluate((box) => box.scrollWidth - box.clientWidth)
  await expect.poll(beyond).toBeLessThanOrEqual(0)
})

test('an icon is found by a word and taken by keyboard; a name that is none says so', async () => {
  await world.server.echo('pictured', { name: 'Pictured', icon: 'no-such-icon' })
  const page = await world.signedIn()
  const loaded: string[] = []
  page.on('request', (request) => loaded.push(request.url()))
  await page.goto('/admin/tools/pictured/edit')
  await page.getByText('No icon is called “no-such-icon”').waitFor()
  expect(loaded.filter((url) => url.includes('icon-list'))).toEqual([])
  await page.getByRole('button', { name: 'Icon' }).press('Enter')
  const search = page.getByRole('combobox', { name: 'Search icons' })
  await search.fill('anv')
  await page.getByRole('option', { name: 'anvil' }).locator('svg').waitFor()
  await expectAccessible(page)
  await search.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByText('No icon is called').waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('part-icon')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await said(page, 'Pictured is saved')
  expect((await world.server.api('GET', '/api/tools/pictured')).icon).toBe('anvil')
})

test('a form is laid out without JSON: sections, order by keyboard, width and help', async () => {
  await world.server.echo('laid-out', {
    name: 'Laid out',
    input_schema: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
    },
    output_schema: { type: 'object', properties: { rows: { type: 'array', title: 'Rows' } } },
  })
  const page = await world.signedIn({ width: 390 })
  await page.goto('/admin/tools/laid-out/edit?tab=schema&side=layout')
  const fields = page.getByRole('list', { name: 'Fields' })
  await page.getByRole('button', { name: 'Add a section' }).first().click()
  await page.getByLabel('Title', { exact: true }).fill('Where')
  await fields.getByRole('button', { name: 'city', exact: true }).click()
  await fields.getByLabel('Section').selectOption('Where')
  await fields.getByLabel('Width').selectOption('Half')
  await fields.getByLabel('Shown as').selectOption('Text area')
  await fields.getByLabel('Help text in the form').fill('Where you live')
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  const days = fields.getByRole('button', { name: 'days', exact: true })
  await days.press('Alt+ArrowUp')
  await expectFocused(days)

  const panel = page.getByRole('region', { name: 'Preview and test' })
  await panel.getByText('Where you live').waitFor()
  await page
    .getByRole('region', { name: 'Sections of the result' })
    .getByRole('button', { name: 'Add a section' })
    .click()
  await page.getByLabel('Shown as').last().selectOption('Table')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await said(page, 'Laid out is saved')
  const saved = await world.server.api('GET', '/api/tools/laid-out')
  expect(saved.form_spec).toEqual({
    version: 2,
    sections: [{ id: 'section_1', title: 'Where' }],
    fields: [
      { path: '/days' },
      {
        path: '/city',
        section: 'section_1',
        width: 'half',
        variant: 'textarea',
        help: 'Where you live',
      },
    ],
  })
  expect(saved.output_sections).toEqual([{ key: 'rows', label: 'Rows', type: 'table' }])
  await page.getByRole('link', { name: 'Advanced (JSON)' }).click()
  await page.getByRole('textbox', { name: 'View' }).waitFor()
})

test('values are picked down to the fields that a step gave the last time, by keyboard', async () => {
  await world.server.api('POST', '/api/tools', {
    slug: 'weather.picked',
    name: 'Weather',
    description: 'Tells the weather.',
    implementation_type: 'http',
    permission_level: 'read',
    input_schema: { type: 'object', properties: { city: { type: 'string' } } },
    implementation: { url: `http://${host}/v1` },
    publish: true,
  })
  await world.server.api('POST', '/api/tools/weather.picked/run', { input: { city: 'graz' } })
  await world.server.api('POST', '/api/tools', {
    slug: 'weather.told',
    name: 'Weather told',
    description: 'Tells it on.',
    implementation_type: 'composition',
    permission_level: 'read',
    input_schema: { type: 'object', properties: { city: { type: 'string' } } },
    execution_spec: {
      kind: 'composition',
      steps: [
        { id: 'now', tool: 'weather.picked', input: { city: '{{ input.city }}' } },
        { id: 'again', tool: 'weather.picked', input: {} },
      ],
    },
  })
  const page = await world.signedIn()
  await page.goto('/admin/tools/weather.told/edit?tab=execution')
  const second = page.getByRole('group', { name: 'Step 2' })
  await second.getByRole('textbox', { name: 'city' }).fill('at ')
  await second.getByRole('button', { name: 'Insert a value into city' }).press('Enter')
  const speed = page.getByRole('menuitem', { name: '{{ steps.now.output.current.wind.speed }}' })
  await speed.getByText('last: 3').waitFor()
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 })
    await expectAccessible(page)
  }
  await page.keyboard.type('speed')
  await expectFocused(speed)
  await page.keyboard.press('Enter')
  const value = 'at {{ steps.now.output.current.wind.speed }}'
  await expect.poll(() => second.getByRole('textbox', { name: 'city' }).inputValue()).toBe(value)
})

test('a composition is drawn as boxes, which lead to their steps and read as a list', async () => {
  await world.server.echo('drawn.echo')
  const steps = [
    { id: 'first', tool: 'drawn.echo', input: { text: '{{ input.text }}' } },
    { id: 'second', tool: 'drawn.echo', input: {}, when: 'steps.first.output.success' },
    { id: 'third', tool: 'drawn.echo', input: { text: '{{ steps.first.output }}' } },
  ]
  await world.server.echo('drawn', {
    implementation_type: 'composition',
    execution_spec: { kind: 'composition', steps, output: { a: '{{ steps.first.output }}' } },
  })
  const page = await world.signedIn({ width: 390 })
  await page.goto('/admin/tools/drawn/edit?tab=execution')
  const list = page.getByRole('list', { name: 'Overview' })
  await list.getByRole('listitem').nth(4).waitFor()
  const third = list.getByRole('button', { name: /third/ })
  await third.getByText('Uses values of: first').waitFor()
  await list.getByText('when steps.first.output.success').waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  await third.press('Enter')
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.id))
    .toBe('part-execution_spec-steps-2')
  await page.getByRole('button', { name: 'Remove step 2' }).click()
  await expect.poll(() => list.getByRole('listitem').count()).toBe(4)
})

test('the preview of a tool is what an agent is listed, and follows what is typed', async () => {
  const output_schema = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/a' } },
    $defs: { a: { type: 'string' } },
  }
  const tools: Record<string, Record<string, unknown>> = {
    'seen.read': {
      implementation_type: 'http',
      implementation: { url: `http://${host}/` },
      permission_level: 'read',
      icon: 'cloud',
      output_schema,
    },
    'seen.write': { permission_level: 'write', output_schema },
    'seen.person': { implementation_type: 'space', permission_level: 'draft', output_schema },
    'seen.pure': { permission_level: null, execution: { is_pure: true } },
  }
  for (const [slug, more] of Object.entries(tools)) await world.server.echo(slug, more)
  const agent = new Client({ name: 'a-reader', version: '1.0.0' })
  const authorization = `Bearer ${await world.server.agentKey('reader')}`
  const requestInit = { headers: { authorization } }
  const address = new URL(`${world.server.url}/mcp`)
  await agent.connect(new StreamableHTTPClientTransport(address, { requestInit }))
  const { tools: listed } = await agent.listTools()
  await agent.close()

  const page = await world.signedIn()
  const mcp = page.getByRole('region', { name: 'MCP tool' }).locator('pre')
  for (const slug of Object.keys(tools)) {
    await page.goto(`/admin/tools/${slug}/edit?tab=preview`)
    await mcp.waitFor()
    const shown = JSON.parse((await mcp.textContent()) ?? '')
    expect(shown).toEqual(listed.find(({ name }) => name === slug))
  }
  await expectAccessible(page)
  await page.getByRole('region', { name: 'OpenAPI operation' }).getByText('seen__pure').waitFor()
  await page.getByLabel('Provider').selectOption('Anthropic')
  await page
    .getByRole('region', { name: 'Function definition' })
    .getByText('"input_schema"')
    .waitFor()
  await tab(page, 'Identity')
  await page.getByLabel('Description').fill('Typed, and not saved.')
  await tab(page, 'Preview')
  await mcp.getByText('Typed, and not saved.').waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await expectNoSidewaysScroll(page)
})
