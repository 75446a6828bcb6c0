import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'

import {
  allThere,
  drawn,
  expectAccessible,
  expectFocused,
  expectNoSidewaysScroll,
  publishIt,
  readOf,
  said,
  useWorld,
} from './world'

let upstream: Server
const heard: { url?: string; key?: string | string[] }[] = []

beforeAll(async () => {
  upstream = createServer((request, response) => {
    heard.push({ url: request.url, key: request.headers['x-api-key'] })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ current: { city: 'Graz', degrees: 21 }, rest: 'left out' }))
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
})

afterAll(() => void upstream.close())

const host = () => `127.0.0.1:${(upstream.address() as AddressInfo).port}`

const world = useWorld(() => ({ TOOLWRIGHT_EGRESS__ALLOW: host() }))

const CITY = { type: 'object', properties: { city: { type: 'string', title: 'City' } } }

const kind = (page: Page, name: string) => page.getByRole('radio', { name })
const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Parts of the tool' }).getByRole('link', { name }).click()

/** What keeps the tool from being saved, in all of its words. */
const complaint = (page: Page, name: string) =>
  page.getByRole('alert').getByRole('button', { name, exact: true })

/** Puts text into an editor of JSON. */
async function write(page: Page, name: string, text: string) {
  const box = page.getByRole('textbox', { name, exact: true })
  await box.click()
  await expectFocused(box)
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

async function make(slug: string, definition: Record<string, unknown>) {
  await world.server.api('POST', '/api/tools', {
    slug,
    name: slug,
    description: 'Made for a test.',
    input_schema: CITY,
    permission_level: 'read',
    publish: true,
    ...definition,
  })
}

const ASK = {
  name: 'Ask somebody',
  implementation_type: 'space',
  timeout_ms: 600_000,
  output_schema: {
    type: 'object',
    properties: {
      verdict: { type: 'string', title: 'Verdict' },
      stars: { type: 'integer', title: 'Stars', maximum: 5 },
    },
    required: ['verdict'],
  },
}

test('a tool over HTTP is made in the editor, tried, published and run', async () => {
  const credential = { label: 'weather', type: 'api_key', payload: { api_key: 'k-123' } }
  await world.server.api('POST', '/api/credentials', credential)
  await world.server.echo('city-weather', { name: 'City weather', input_schema: CITY })
  const page = await world.signedIn()
  await page.goto('/admin/tools/city-weather/edit?tab=execution')
  await kind(page, 'HTTP').click()
  world.expectComplaint(/422/)
  await page.getByRole('button', { name: 'Save draft' }).click()
  // The server says that the address is missing, and the page says where.
  await complaint(page, 'Address: This field is required.').waitFor()
  const url = page.getByLabel('Address')
  await expect.poll(() => url.getAttribute('aria-invalid')).toBe('true')
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.id))
    .toBe('part-implementation-url')
  await expectAccessible(page)

  await page.getByText('{{ input.city }}').first().waitFor()
  await url.fill(`http://${host()}/v1/cities/{{ input.city }}`)
  await page.getByRole('button', { name: 'Add a parameter' }).click()
  await page.getByLabel('Name of parameter 1').fill('units')
  await page.getByLabel('Value of parameter 1').fill('metric')
  // The keyboard goes on in the row that was added.
  await page.getByRole('button', { name: 'Add a header' }).press('Enter')
  const header = page.getByLabel('Name of header 1')
  await expectFocused(header)
  await page.keyboard.type('X-Api-Key')
  await page.getByLabel('Credential for header 1').selectOption('weather')
  await expect.poll(() => page.getByLabel('Value of header 1').inputValue()).toBe('secret:weather')
  // What goes to this host only cannot be sent elsewhere by a mistake in another tool.
  await page.getByRole('button', { name: 'Allow only 127.0.0.1' }).click()
  await said(page, '“weather” is now sent only to 127.0.0.1')
  await page.getByRole('button', { name: 'Add a header' }).click()
  await page.getByLabel('Name of header 2').fill('X-Other')
  await page.getByLabel('Value of header 2').fill('written out')
  await page.getByLabel('Response filter (jq)').fill('.current')

  const panel = page.getByRole('region', { name: 'Preview and test' })
  await panel.getByLabel('City').fill('St. Pölten/Nord')
  await panel.getByRole('button', { name: 'Test' }).click()
  await panel.getByText('Success').first().waitFor()
  await panel.getByText('Graz').first().waitFor()
  expect(heard.at(-1)).toEqual({
    url: '/v1/cities/St.%20P%C3%B6lten%2FNord?units=metric',
    key: 'k-123',
  })
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Save & publish' }).click()
  await publishIt(page, 'City weather')
  // What was written out is a secret now, and stays when something beside it changes.
  await expect.poll(() => page.getByLabel('Value of header 2').inputValue()).toBe('***')
  await page.getByLabel('Retries').fill('1')
  await page.getByRole('button', { name: 'Save & publish' }).click()
  await publishIt(page, 'City weather')
  await expect
    .poll(async () => (await world.server.api('GET', '/api/tools/city-weather')).implementation)
    .toMatchObject({
      retry: { max: 1 },
      query: { units: 'metric' },
      headers: { 'X-Api-Key': 'secret:weather', 'X-Other': '***' },
    })
  await page.getByRole('button', { name: 'Edit as JSON' }).click()
  await page.getByRole('textbox', { name: 'Settings' }).getByText('".current"').waitFor()

  await page.goto('/tools/city-weather')
  await page.getByLabel('City').fill('Graz')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('Success').first().waitFor()
  expect(await page.content()).not.toContain('left out')
})

test('a chain with a step for a person is made, run, answered by somebody else, and shown as a tree', async () => {
  await make('ask', ASK)
  await world.server.echo('greet', { name: 'Greet', input_schema: CITY })
  await world.server.echo('chain', { name: 'Chain', input_schema: CITY, timeout_ms: 600_000 })
  const page = await world.signedIn()
  await page.goto('/admin/tools/chain/edit?tab=execution')
  await kind(page, 'Composition').click()
  await page.getByRole('button', { name: 'Add a step' }).click()
  const first = page.getByRole('group', { name: 'Step 1' })
  await first.getByLabel('Tool').fill('ask')
  await first.getByRole('textbox', { name: 'city' }).waitFor()
  await page.getByRole('button', { name: 'Add a step' }).click()
  const second = page.getByRole('group', { name: 'Step 2' })
  await second.getByLabel('Tool').fill('greet')
  // The person comes second, by keyboard.
  await first.getByLabel('Tool').focus()
  await page.keyboard.press('Alt+ArrowDown')
  await expect.poll(() => second.getByLabel('Tool').inputValue()).toBe('ask')
  await first.getByLabel('Id').fill('hello')
  await second.getByLabel('Id').fill('asked')
  // What goes in is chosen from what there is, by keyboard; the row has the focus again.
  await first.getByRole('button', { name: 'Insert a value into city' }).press('Enter')
  await page.getByRole('menuitem', { name: '{{ input.city }}' }).press('Enter')
  const city = first.getByRole('textbox', { name: 'city' })
  await expect.poll(() => city.inputValue()).toBe('{{ input.city }}')
  await expectFocused(city)
  // What no row can show is written as JSON, and the row shows it.
  await second.getByRole('button', { name: 'Edit as JSON: Input' }).click()
  await second.getByRole('textbox', { name: 'Input' }).click()
  await expectFocused(second.getByRole('textbox', { name: 'Input' }))
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('{"city": "{{ steps.hello.output.args.city }}"}')
  await second.getByRole('button', { name: 'Edit as JSON: Input' }).click()
  await expect
    .poll(() => second.getByRole('textbox', { name: 'city' }).inputValue())
    .toBe('{{ steps.hello.output.args.city }}')
  await write(page, 'Output', '{"said": "{{ steps.asked.output.verdict }}"}')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Save & publish' }).click()
  await publishIt(page, 'Chain')
  const { execution_spec } = await world.server.api('GET', '/api/tools/chain')
  expect(execution_spec.steps.map(({ id, tool }: any) => [id, tool])).toEqual([
    ['hello', 'greet'],
    ['asked', 'ask'],
  ])

  await page.goto('/tools/chain')
  await page.getByLabel('City').fill('Graz')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('ask is waiting for a person to answer.').waitFor()
  await page.getByRole('link', { name: 'Answer', exact: true }).waitFor()

  const other = await world.signedIn()
  await other.goto('/approvals')
  await other.getByRole('link', { name: /^To answer/ }).click()
  await other.waitForURL('**/approvals/answers')
  await other.getByRole('link', { name: 'asked by you' }).waitFor()
  const tabs = other.getByRole('navigation', { name: 'Inbox' })
  await expect.poll(() => tabs.locator('[aria-current]').allTextContents()).toEqual(['To answer1'])
  await other.keyboard.press('j')
  await expectFocused(other.getByRole('link', { name: 'asked by you' }))
  await other.keyboard.press('Enter')
  await other.getByRole('heading', { level: 1, name: 'Ask somebody' }).waitFor()
  const asked = other.getByRole('region', { name: 'Question' })
  await expect.poll(() => readOf(asked, 'City').textContent()).toBe('Graz')
  const form = other.getByRole('region', { name: 'Your answer' })
  await form.getByRole('button', { name: 'Send answer' }).click()
  await expect.poll(() => form.getByLabel('Verdict').getAttribute('aria-invalid')).toBe('true')
  await form.getByLabel('Verdict').fill('Lovely town')
  await form.getByLabel('Stars').fill('5')
  await expectAccessible(other)
  await form.getByRole('button', { name: 'Send answer' }).click()
  await other.getByRole('region', { name: 'You answered this' }).waitFor()

  await page.getByText('Success').first().waitFor()
  await page.getByText('Lovely town').first().waitFor()
  await page.getByRole('link', { name: 'Details' }).click()
  await page.waitForURL('**/runs/**')
  const time = page.getByRole('region', { name: 'Timing' })
  await time.getByRole('link', { name: 'greet' }).waitFor()
  await time.getByRole('link', { name: 'ask' }).waitFor()
  await expect.poll(() => time.getByText('Success').count()).toBe(2)
  await expectAccessible(page)
})

test('whoever is slower, and whoever cannot, is told plainly', async () => {
  await make('slow', ASK)
  const parked = () =>
    world.server.api('POST', '/api/tools/slow/run', { input: { city: 'Linz' }, wait_ms: 1 })
  const { run_id, pending_tool_call_id: call_id } = await parked()
  const page = await world.signedIn()
  await page.goto(`/runs/${run_id}`)
  await page.getByText('slow is waiting for a person to answer.').waitFor()
  await page.getByRole('link', { name: 'Answer', exact: true }).click()
  await page.waitForURL(`**/answers/${call_id}`)
  await page.getByLabel('Verdict').fill('mine')
  // The page does not hear of the other answer before it sends its own. One look that fails: whatever was asked before
  // has been answered by then.
  const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith(call_id))
  await page.route(`**/api/pending-calls/${call_id}`, (route) => route.abort())
  world.expectComplaint(/ERR_FAILED/)
  world.expectComplaint(/409/)
  await failed
  const answer = { call_id, result: { verdict: 'theirs' } }
  await world.server.api('POST', `/api/runs/${run_id}/tool-results`, answer)
  await page.getByRole('button', { name: 'Send answer' }).click()
  await page.getByText('Your answer was not accepted').waitFor()
  await page.unroute(`**/api/pending-calls/${call_id}`)
  await page.reload()
  const unsent = page.getByRole('region', { name: 'Not sent: what you typed' })
  await expect.poll(() => unsent.textContent()).toContain('mine')
  await page.getByText('theirs').first().waitFor()

  const other = await parked()
  await page.goto(`/approvals/answers/${other.pending_tool_call_id}`)
  await page.getByLabel('Verdict').fill('not yet sent')
  const first = { call_id: other.pending_tool_call_id, result: { verdict: 'sooner' } }
  await world.server.api('POST', `/api/runs/${other.run_id}/tool-results`, first)
  await page.getByText('This call was settled before you answered').waitFor()
  await page.getByText('sooner').first().waitFor()

  const next = await parked()
  await page.goto(`/approvals/answers/${next.pending_tool_call_id}`)
  await page.getByRole('button', { name: 'Decline' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Decline' }).click()
  await dialog.getByText('Enter a reason').waitFor()
  await expectAccessible(page)
  await dialog.getByLabel('Reason').fill('Nobody is in Linz.')
  await dialog.getByRole('button', { name: 'Decline' }).click()
  await page.getByRole('region', { name: 'You answered this' }).waitFor()
  await page.getByText('Nobody is in Linz.').first().waitFor()
  const ended = () => world.server.api('GET', `/api/runs/${next.run_id}`)
  await expect.poll(async () => (await ended()).status).toBe('error')
})

test('a test of a tool that a person answers says that it waits, and then shows the answer', async () => {
  await make('tried', ASK)
  const page = await world.signedIn()
  await page.goto('/admin/tools/tried/edit?tab=execution')
  const panel = page.getByRole('region', { name: 'Preview and test' })
  await panel.getByLabel('City').fill('Steyr')
  await panel.getByRole('button', { name: 'Test' }).click()
  await panel.getByText('tried is waiting for a person to answer.').waitFor()
  await expectAccessible(page)
  const { items } = await world.server.api('GET', '/api/pending-calls?limit=200')
  const { id: call_id, run_id } = items.find(({ tool }: any) => tool === 'tried')
  const answer = { call_id, result: { verdict: 'seen in the panel' } }
  await world.server.api('POST', `/api/runs/${run_id}/tool-results`, answer)
  await panel.getByText('seen in the panel').first().waitFor()
})

test('an answer that comes too late is shown with its run', async () => {
  await make('late', { ...ASK, timeout_ms: 50 })
  const run = await world.server.api('POST', '/api/tools/late/run', { input: { city: 'Wien' } })
  const now = () => world.server.api('GET', `/api/runs/${run.run_id}`)
  await expect.poll(async () => (await now()).status).toBe('timed_out')
  const page = await world.signedIn()
  await page.goto(`/approvals/answers/${run.pending_tool_call_id}`)
  await page.getByText('The caller has stopped waiting.').waitFor()
  await page.getByLabel('Verdict').fill('better late')
  await page.getByRole('button', { name: 'Send answer' }).click()
  await page.getByRole('region', { name: 'You answered this' }).waitFor()
  await page.goto(`/runs/${run.run_id}`)
  await page.getByRole('heading', { name: 'Late answer' }).waitFor()
  await page.getByText('better late').first().waitFor()
  await expectAccessible(page)
})

test('a built-in fills in what nobody has described yet', async () => {
  const page = await world.signedIn()
  await page.goto('/admin/tools/new?kind=internal')
  await page.getByLabel('Name', { exact: true }).fill('Reshape')
  await page.getByLabel('Slug').fill('reshape')
  await tab(page, 'Execution')
  await page.getByRole('combobox', { name: 'Built-in' }).selectOption('json_transform')
  await tab(page, 'Identity')
  await expect.poll(() => page.getByLabel('Description').inputValue()).not.toBe('')
  await page.getByRole('button', { name: 'Save & publish' }).click()
  await publishIt(page, 'Reshape')
  const input = { data: { a: 1 }, expression: '.a' }
  const run = await world.server.api('POST', '/api/tools/reshape/run', { input })
  expect(run.output.result).toBe(1)
})

test('going to another kind and back loses nothing, and half typed JSON keeps its place', async () => {
  await make('many-kinds', {
    implementation_type: 'http',
    implementation: { url: `http://${host()}/`, body: { a: 1 }, method: 'POST' },
  })
  const page = await world.signedIn()
  await page.goto('/admin/tools/many-kinds/edit?tab=execution')
  await page.getByLabel('Address').fill(`http://${host()}/changed`)
  await kind(page, 'Worker').click()
  await page.getByText('/api/workers/stream?tools=many-kinds').waitFor()
  await kind(page, 'Function').click()
  world.expectComplaint(/422/)
  await page.getByRole('button', { name: 'Save draft' }).click()
  await complaint(page, 'Function: This field is required.').waitFor()
  await kind(page, 'HTTP').click()
  await expect.poll(() => page.getByLabel('Address').inputValue()).toBe(`http://${host()}/changed`)
  await write(page, 'Body (JSON)', '{"a": ')
  await page.getByText('Your text is kept.').first().waitFor()
  await kind(page, 'Worker').click()
  await kind(page, 'HTTP').click()
  await page.getByText('Your text is kept.').first().waitFor()
  await page.getByRole('button', { name: 'Edit as JSON' }).click()
  await page.getByText('Fix the errors here before').waitFor()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page
    .getByRole('alert')
    .getByRole('button', { name: /^Body: / })
    .waitFor()
  await write(page, 'Body (JSON)', '{"a": 12345678901234567890}')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await said(page, 'many-kinds is saved')
})

describe('everyone can use every page, on a phone too', () => {
  let call = ''

  beforeAll(async () => {
    await make('seen-ask', ASK)
    await make('seen-free', { ...ASK, output_schema: null })
    await make('seen-worker', { implementation_type: 'external' })
    await make('seen-http', {
      implementation_type: 'http',
      implementation: {
        url: `http://${host()}/{{ input.city }}`,
        headers: { 'X-A': 'b' },
        body: { x: 1 },
      },
    })
    const step = (id: string) => ({ id, tool: 'seen-ask', on_error: 'fallback', fallback: null })
    await make('seen-chain', {
      implementation_type: 'composition',
      execution_spec: { kind: 'composition', steps: [step('a'), step('b')] },
    })
    const input = { city: 'x'.repeat(200) }
    const run = await world.server.api('POST', '/api/tools/seen-ask/run', { input, wait_ms: 1 })
    call = run.pending_tool_call_id
  })

  const surfaces: [string, () => string][] = [
    ...['ask', 'worker', 'http', 'chain'].map((name): [string, () => string] => [
      `the editor of seen-${name}`,
      () => `/admin/tools/seen-${name}/edit?tab=execution`,
    ]),
    ['the answers', () => '/approvals/answers'],
    ['an answer', () => `/approvals/answers/${call}`],
  ]

  test.each([1280, 390])(
    'nothing that has the focus is behind a bar, %i pixels wide',
    async (width) => {
      const page = await world.signedIn({ width, height: 700 })
      await page.goto('/admin/tools/seen-chain/edit?tab=execution')
      await page.getByRole('heading').first().waitFor()
      await allThere(page)
      await page.getByRole('button', { name: 'Test', exact: true }).focus()
      const focused = () =>
        page.evaluate(() => {
          const it = document.activeElement
          if (!it || it.closest('header')) return undefined
          const { left, top, width, height } = it.getBoundingClientRect()
          const seen = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 10))
          const isSeen = it.contains(seen) || seen?.closest('label')?.contains(it) === true
          return { name: it.getAttribute('aria-label') ?? it.id, isSeen }
        })
      const hidden: string[] = []
      let last = await focused()
      for (let steps = 0; last && steps < 60; steps++) {
        await page.keyboard.press('Shift+Tab')
        await drawn(page)
        last = await focused()
        if (last && !last.isSeen) hidden.push(last.name)
      }
      expect(last).toBeUndefined()
      expect(hidden).toEqual([])
    },
  )

  test.each(surfaces)('%s', async (_, address) => {
    const page = await world.signedIn()
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await page.goto(address())
      await page.getByRole('heading').first().waitFor()
      await allThere(page)
      await expectNoSidewaysScroll(page)
      await expectAccessible(page)
    }
  })
})

/** Puts a text of several lines into an empty editor: over coloured text the browser would style what is inserted. */
async function rewrite(page: Page, name: string, text: string) {
  const box = page.getByRole('textbox', { name, exact: true })
  await box.click()
  await expectFocused(box)
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Backspace')
  await page.keyboard.insertText(text)
}

test('a script is written, the line that is wrong is told, and its log is shown', async () => {
  world.expectComplaint(/422/)
  await world.server.echo('script', { name: 'Shout', input_schema: CITY })
  const page = await world.signedIn()
  await page.goto('/admin/tools/script/edit?tab=execution')
  await kind(page, 'Script').click()
  await rewrite(page, 'Source', 'export default (input) => {\n  return 1 +;\n};\n')
  await page.getByRole('button', { name: 'Save & publish' }).click()
  await page
    .getByText(/^Line 2, column \d+ is not valid/)
    .first()
    .waitFor()
  await page.locator('.cm-lintRange-error').first().waitFor()
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
  await page.getByLabel('Language', { exact: true }).selectOption('TypeScript')
  const source =
    'export default (input: { city: string }) => {\n  console.log("asked for", input.city)'
  await rewrite(page, 'Source', `${source};\n  return input.city.toUpperCase();\n};\n`)
  const panel = page.getByRole('region', { name: 'Preview and test' })
  await panel.getByLabel('City').fill('Graz')
  await panel.getByRole('button', { name: 'Test', exact: true }).click()
  await panel.getByText('GRAZ', { exact: true }).waitFor()
  await expect.poll(() => panel.getByLabel('Log').textContent()).toBe('asked for Graz')
  await page.getByRole('button', { name: 'Save & publish' }).click()
  await publishIt(page, 'Shout')
})

test('nobody answers yes or no by leaving it alone', async () => {
  const confirmed = { type: 'boolean', title: 'Confirmed' }
  const output_schema = { type: 'object', properties: { confirmed }, required: ['confirmed'] }
  await make('confirm', { ...ASK, name: 'Confirm', output_schema })
  const asked = { input: { city: 'Wien' }, wait_ms: 1 }
  const run = await world.server.api('POST', '/api/tools/confirm/run', asked)
  const now = () => world.server.api('GET', `/api/runs/${run.run_id}`)
  const page = await world.signedIn()
  await page.goto(`/approvals/answers/${run.pending_tool_call_id}`)
  const group = page.getByRole('radiogroup', { name: 'Confirmed' })
  await group.getByRole('radio').nth(1).waitFor()
  expect(await group.getByRole('radio', { checked: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Send answer' }).click()
  await page.getByText('This field is required.').waitFor()
  await expectAccessible(page)
  expect((await now()).status).toBe('pending')
  await group.getByRole('radio', { name: 'No' }).check()
  await page.getByRole('button', { name: 'Send answer' }).click()
  await page.getByRole('region', { name: 'You answered this' }).waitFor()
  expect((await now()).output).toEqual({ confirmed: false })
})
