import { countWork, expectAccessible, expectNoSidewaysScroll, useWorld } from './world'

const world = useWorld()

const SIZE = 1_900_000
const ROWS = Array.from({ length: 28_000 }, (_, index) => ({
  name: `thing ${index}`,
  note: 'some words about it, as rows have them',
}))

beforeAll(async () => {
  const row = { type: 'object', properties: { name: { type: 'string' }, note: { type: 'string' } } }
  await world.server.echo('texts')
  await world.server.echo('rows', {
    input_schema: { type: 'object', properties: { rows: { type: 'array', items: row } } },
  })
})

async function made(tool: string, input: unknown): Promise<string> {
  const { run_id } = await world.server.api('POST', `/api/tools/${tool}/run`, { input })
  return run_id
}

test.each([
  ['one long text', 'texts', { text: 'x'.repeat(SIZE) }],
  ['many rows', 'rows', { rows: ROWS }],
])('a run with %s does not hold up its page', async (_, tool, input) => {
  const run_id = await made(tool, input)
  const page = await world.signedIn()
  const worked = await countWork(page)
  await page.goto(`/runs/${run_id}`)
  await page.getByRole('region', { name: 'Events' }).getByText('Completed').waitFor()
  // Half a second, most of it for the page itself. It was far more when all of the run was laid out.
  const seconds = await worked()
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThan(3)
  await expectAccessible(page)
})

test('all of a long value can be seen, and only what is in sight is laid out', async () => {
  const text = `${'word '.repeat(SIZE / 5)}the end`
  const id = await made('texts', { text })
  const page = await world.signedIn()
  await page.goto(`/runs/${id}`)
  const input = page.getByRole('region', { name: 'Input' })
  await input.getByRole('button', { name: 'Show all', exact: true }).click()
  const whole = input.getByRole('group', { name: 'Full text' })
  await expect.poll(async () => (await whole.textContent())?.endsWith('the end')).toBe(true)
  // As JSON too, in a box that scrolls.
  await input.getByRole('button', { name: 'JSON' }).click()
  await input.getByRole('button', { name: /^Show all \(1\.9 ?MB\)$/ }).click()
  const json = input.getByLabel('Input as JSON')
  await expect.poll(async () => (await json.textContent())?.includes('the end')).toBe(true)
  const shown = await json.evaluate((box) => box.clientHeight)
  expect(shown).toBeLessThan(600)
  await json.focus()
  // How far it is gets known as it is drawn.
  const atEnd = async () => {
    await page.keyboard.press('End')
    return json.evaluate((box) => box.scrollTop + box.clientHeight >= box.scrollHeight - 2)
  }
  await expect.poll(atEnd).toBe(true)
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test('what is pasted into the form may be large', async () => {
  const page = await world.signedIn()
  await page.goto('/tools/texts')
  await page.getByLabel('Text', { exact: true }).fill('y'.repeat(SIZE))
  await page.getByText('Long text (1,900,000 characters)').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.waitForURL('**run=*')
  await page.getByText('Success', { exact: true }).first().waitFor()
  await page.getByRole('button', { name: /^Remove ?: Text$/ }).click()
  await expect.poll(() => page.getByLabel('Text', { exact: true }).inputValue()).toBe('')

  // Too many values for a form are written as JSON, and go to the server like any others.
  await page.goto('/tools/rows')
  await page.getByRole('button', { name: 'JSON' }).click()
  const editor = page.getByRole('textbox', { name: 'Input as JSON' })
  await editor.fill(JSON.stringify({ rows: ROWS.slice(0, 5_000) }))
  await page.getByText('This input has too many values for a form.').waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.waitForURL('**run=*')
  await page.getByText('Success', { exact: true }).first().waitFor()
  await expectAccessible(page)
})

test('a large input holds up neither the inbox nor its approval', async () => {
  await world.server.echo('sends', { name: 'Sends', permission_level: 'write' })
  const agent = await world.server.agentKey()
  const call = { input: { text: 'z'.repeat(SIZE) } }
  const { approval_id } = await world.server.api('POST', '/api/tools/sends/run', call, agent)
  const page = await world.signedIn()
  const wanted = 'bot wants to run Sends (changes data)'
  for (const path of ['/approvals', `/approvals/${approval_id}`]) {
    const worked = await countWork(page)
    await page.goto(path)
    await page.getByRole('heading', { name: wanted }).waitFor()
    await page
      .getByText(/^z{10}/)
      .first()
      .waitFor()
    expect(await worked(), path).toBeLessThan(3)
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
  }
})
