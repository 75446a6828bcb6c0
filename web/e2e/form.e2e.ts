import type { Page } from 'playwright-core'

import sink from '../src/features/form/kitchen-sink.json'
import { FormModel } from '../src/features/form/model'
import {
  countWork,
  expectAccessible,
  expectFocused,
  expectNoSidewaysScroll,
  type Look,
  useWorld,
} from './world'

const world = useWorld()

const runButton = (page: Page) => page.getByRole('button', { name: 'Run', exact: true })
const form = (page: Page) => page.locator('form[data-form]')

/** The page of a tool that gives back its input, as soon as its form is there. */
async function open(
  slug: string,
  definition: Record<string, unknown>,
  look?: Look,
  submit = 'Run',
): Promise<Page> {
  await world.server.echo(slug, definition)
  const page = await world.signedIn(look)
  await page.goto(`/tools/${slug}`)
  await form(page).getByRole('button', { name: submit, exact: true }).waitFor()
  return page
}

/** The input of the newest run, once there is one. */
async function sent(page: Page, slug: string): Promise<unknown> {
  await page.waitForURL('**run=*')
  const { items } = await world.server.api('GET', `/api/runs?tool=${slug}`)
  const { run_id } = items[0]
  return (await world.server.api('GET', `/api/runs/${run_id}`)).input
}

test('every construct can be filled, and the server takes what the form takes', async () => {
  const page = await open('form.sink', { input_schema: sink.input_schema })
  const field = (label: string) => form(page).getByLabel(label, { exact: true })
  await runButton(page).click()
  await page.getByText('6 fields need attention').waitFor()
  await expectFocused(field('Full name'))
  await expect.poll(() => field('Full name').getAttribute('aria-invalid')).toBe('true')
  await expectAccessible(page)

  await field('Full name').fill('Ada Lovelace')
  await field('Notes').fill('One\nTwo')
  await field('Email').fill('ada@example.com')
  await field('Homepage').fill('https://example.com/')
  await field('Secret').fill('hunter2')
  await form(page).getByRole('button', { name: 'Show Secret' }).click()
  await expect.poll(() => field('Secret').getAttribute('type')).toBe('text')
  await field('Born On').fill('1815-12-10')
  await field('Meet At').fill('2026-03-29T10:00')
  await field('Wake Time').fill('06:30')
  await field('Plate').fill('W-123')
  await field('Amount').fill('12.5')
  await field('Share').fill('40')
  await field('Level').selectOption('mid_range')
  await field('Size').selectOption('Large')
  await field('Tuesday').check()
  await field('I agree').getByLabel('Yes').check()
  await field('Newsletter').uncheck()
  await field('Moment').fill('5')
  await field('Type of Moment').selectOption('Number')
  await field('Kind: Order').check()

  await form(page).getByRole('button', { name: 'Add entry' }).click()
  await field('Name').first().fill('colour')
  await field('Name').first().press('Tab')
  await field('colour').fill('red')

  /** Adds an item, which has the focus then, and types into it. */
  const add = async (list: string, text: string) => {
    const group = form(page).getByRole('group', { name: list, exact: true })
    await group.getByRole('button', { name: `Add item to ${list}` }).click()
    await group.locator('input:focus, textarea:focus').waitFor()
    await page.keyboard.type(text)
  }
  await add('Tags', 'a')
  await add('Tags', 'b')
  await field('Item').fill('first')
  await add('Lines', 'second')
  const lines = form(page).getByRole('group', { name: 'Lines', exact: true })
  await lines.getByRole('button', { name: 'Move item 2 up' }).click()
  await lines
    .getByRole('button', { name: 'Move item 1 down' })
    .and(page.locator(':focus'))
    .waitFor()
  const ship = form(page).getByRole('group', { name: 'Ship To', exact: true })
  await ship.getByLabel('City', { exact: true }).fill('Wien')

  await field('Contact').selectOption('By phone')
  await field('Number').fill('12345')
  await field('Urgent').check()
  await field('Rush Fee').fill('3')
  await field('Payment').selectOption('card')
  await field('Card Number').fill('123456789012')
  await form(page).getByRole('button', { name: 'Add Left' }).click()
  const left = form(page).getByRole('group', { name: 'Left', exact: true })
  await left.getByLabel('Name', { exact: true }).fill('leaf')
  await field('Type of Anything').selectOption('JSON')
  await field('Anything').fill('{ "a": [1, null] }')
  await field('Pair 1').fill('x')
  await field('Pair 2').fill('7')
  await expectAccessible(page)

  await runButton(page).click()
  expect(await sent(page, 'form.sink')).toEqual({
    name: 'Ada Lovelace',
    notes: 'One\nTwo',
    email: 'ada@example.com',
    homepage: 'https://example.com/',
    secret: 'hunter2',
    born_on: '1815-12-10',
    meetAt: expect.stringMatching(/^2026-03-29T10:00:00(Z|[+-]\d\d:\d\d)$/),
    wakeTime: expect.stringMatching(/^06:30:00(Z|[+-]\d\d:\d\d)$/),
    plate: 'W-123',
    amount: 12.5,
    pieces: 4,
    share: 40,
    level: 'mid_range',
    size: 'l',
    days: ['tuesday'],
    agreed: true,
    newsletter: false,
    moment: 5,
    kind: 'order',
    labels: { colour: 'red' },
    tags: ['a', 'b'],
    lines: [
      { item: 'second', count: 1 },
      { item: 'first', count: 1 },
    ],
    ship_to: { city: 'Wien' },
    contact: { by: 'phone', number: '12345' },
    urgent: true,
    rush_fee: 3,
    payment: 'card',
    card_number: '123456789012',
    tree: { left: { name: 'leaf' } },
    anything: { a: [1, null] },
    pair: ['x', 7],
  })
})

test('the form spec is followed, on a phone too', async () => {
  const page = await open('form.spec', sink, { width: 390 }, 'Send it')
  const field = (label: string) => form(page).getByLabel(label, { exact: true })
  const button = form(page).getByRole('button', { name: 'Send it' })
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  await form(page).getByText('Rarely needed').click()
  await field('Notes').fill('n')
  await field('Full name').fill('Ada')
  await field('Medium').check()
  await field('Share').press('End')
  await field('Tags').pressSequentially('red,blue,')
  await field('Item').fill('x')
  await field('Count').fill('2')
  await field('Amount').fill('1')
  await field('Level').selectOption('High')
  await field('Plate').fill('bad')
  await field('City').fill('Wien')
  await field('I agree').getByLabel('No').check()
  await button.click()
  await page.getByText(/This must match the pattern/).waitFor()
  await field('Level').selectOption('Low')
  await field('Plate').waitFor({ state: 'detached' })
  await button.click()
  expect(await sent(page, 'form.spec')).toMatchObject({
    name: 'Ada',
    size: 'm',
    share: 100,
    tags: ['red', 'blue'],
    lines: [{ item: 'x', count: 2 }],
    level: 'low',
    agreed: false,
  })
  await expectNoSidewaysScroll(page)
})

/** Replaces what stands in the editor, by keyboard. */
async function write(page: Page, text: string) {
  await page.getByRole('textbox', { name: 'Input as JSON' }).focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.press('Backspace')
  await page.keyboard.insertText(text)
}

test('form and JSON hold the same, and broken text is kept', async () => {
  const input_schema = {
    type: 'object',
    properties: { name: { type: 'string' }, n: { type: 'integer', minimum: 1 } },
    required: ['n'],
  }
  const page = await open('form.json', { input_schema })
  await form(page).getByLabel('Name').fill('Ada')
  await form(page).getByRole('button', { name: 'JSON' }).click()
  const editor = page.getByRole('textbox', { name: 'Input as JSON' })
  await editor.waitFor()
  await expect.poll(() => editor.innerText()).toContain('"Ada"')
  await page.getByText('/n: This field is required.').waitFor()
  await expectAccessible(page)

  await write(page, '{ "name": "Bo", "n": ')
  await form(page).getByRole('button', { name: 'Form' }).click()
  await page.getByText('The text is not valid JSON.').waitFor()
  await expect.poll(() => editor.innerText()).toContain('"Bo"')
  await write(page, '{ "name": "Bo", "n": 0 }')
  await page.getByText('/n: Enter a number of at least 1.').waitFor()
  await page.locator('.cm-lintRange-error').first().waitFor()
  await write(page, '{ "name": "Bo", "n": 2 }')
  await form(page).getByRole('button', { name: 'Form' }).click()
  await expect.poll(() => form(page).getByLabel('Name').inputValue()).toBe('Bo')
  await runButton(page).click()
  expect(await sent(page, 'form.json')).toEqual({ name: 'Bo', n: 2 })
})

test('the forms of all shipped tools can be used by everyone, on a phone too', async () => {
  const page = await world.signedIn({ width: 390 })
  const { items } = await world.server.api('GET', '/api/tools?origin=code')
  expect(items.length).toBeGreaterThanOrEqual(14)
  for (const { slug } of items) {
    await page.goto(`/tools/${slug}`)
    await runButton(page).click()
    await page.locator('form[data-form] [aria-invalid=true]').and(page.locator(':focus')).waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
  }
})

test('two hundred fields keep up with typing', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 200 }, (_, n) => [`field_${n}`, { type: n % 2 ? 'string' : 'integer' }]),
  )
  const page = await open('form.big', { input_schema: { type: 'object', properties } })
  const field = form(page).getByLabel('Field 101', { exact: true })
  const worked = await countWork(page)
  await field.pressSequentially('twenty characters ok')
  await expect.poll(() => field.inputValue()).toBe('twenty characters ok')
  const seconds = await worked()
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThan(3)
})

const AT_ONCE = 8

/** Values for any field, of which most fit only a few. */
const VALUES: unknown[] = [
  [0, 1, -1, 1.5, 4, 1000, 1e21, true, false, null],
  ['', 'x', 'mid_range', 'order', 'card', 'W-123', 'w-1'],
  ['ada@example.com', 'a@b', 'ä@b.de', 'a..b@c.de', '"q q"@x.org', 'x@[127.0.0.1]', 'x@-a.com'],
  ['https://example.com', 'http://a b', 'urn:x', 'mailto:x', '//x', 'http://ü.de'],
  ['2026-03-29', '2026-02-30', '10:00:00Z', '10:00', '24:00:00Z'],
  ['2026-03-29T10:00:00Z', '2026-03-29 10:00:00Z', '2026-03-29t10:00:00z'],
  [[], ['monday'], ['monday', 'monday'], ['a', ''], ['x', 7], ['x', 7, 8]],
  [[{ item: 'x' }], [{ item: 'x', odd: 1 }], [{}]],
  [{}, { city: 'W' }, { a: 'b' }, { a: 1 }, { left: { name: 1 } }],
  [{ by: 'phone', number: '123' }, { by: 'letter' }],
].flat()

test('what the form takes the server takes, and what it refuses is refused at the same places', async () => {
  await world.server.echo('form.agree', { input_schema: sink.input_schema })
  const model = new FormModel(sink.input_schema, undefined)
  const good = {
    name: 'Ada',
    amount: 1,
    level: 'low',
    agreed: true,
    lines: [{ item: 'x' }],
    ship_to: { city: 'W' },
  }
  const count = { taken: 0, refused: 0 }
  const different: unknown[] = []
  const compare = async (name: string, value: unknown) => {
    const input = { ...good, [name]: value }
    const here = model.complaints(input).map(({ path }) => path)
    const there = await refusals('form.agree', input)
    count[here.length === 0 ? 'taken' : 'refused']++
    const same = JSON.stringify(here.sort()) === JSON.stringify(there.sort())
    if (!same) different.push({ name, value, here, there })
  }
  const left = Object.keys(sink.input_schema.properties).flatMap((name) =>
    VALUES.map((value) => [name, value] as const),
  )
  const work = async () => {
    for (let next = left.pop(); next; next = left.pop()) await compare(...next)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  expect(different).toEqual([])
  expect(Math.min(count.taken, count.refused)).toBeGreaterThan(100)
})

/** The places at which the server refuses an input. */
async function refusals(slug: string, input: unknown): Promise<string[]> {
  const { url, key } = world.server
  const answer = await fetch(`${url}/api/tools/${slug}/run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
  })
  const { errors } = await answer.json()
  if (answer.status !== 200 && answer.status !== 422) throw new Error(`status ${answer.status}`)
  return (errors ?? []).map(({ path }: { path: string }) => path)
}

test('a decimal comma is taken in German, and told of in English', async () => {
  const input_schema = { type: 'object', properties: { price: { type: 'number' } } }
  const page = await open('form.comma', { input_schema })
  const price = page.getByLabel('Price')
  await price.pressSequentially('12,5')
  await expect.poll(() => price.inputValue()).toBe('12,5')
  await runButton(page).click()
  await page.getByText('Enter a number such as 1234.5 or 1,234.50.').waitFor()

  await page.evaluate(() => localStorage.setItem('language', 'de'))
  await page.goto('/tools/form.comma?input={"price":1.25}')
  await page.waitForFunction(() => document.querySelector('form input'))
  await expect.poll(() => price.inputValue()).toBe('1,25')
  await price.fill('')
  await price.pressSequentially('10.000')
  await page.getByRole('button', { name: 'Ausführen', exact: true }).click()
  await page.getByText('Das kann 10000 oder 10,000 heißen.').waitFor()
  // The caret of a field that is led to stands where the browser puts it.
  await price.press('End')
  await price.pressSequentially(',50')
  await page.getByRole('button', { name: 'Ausführen', exact: true }).click()
  expect(await sent(page, 'form.comma')).toEqual({ price: 10000.5 })
})

test('fields may be named like what every object has', async () => {
  const names = ['constructor', 'toString', 'hasOwnProperty']
  const properties = Object.fromEntries(
    names.map((name) => [name, { type: 'string', title: name }]),
  )
  const page = await open('form.names', {
    input_schema: { type: 'object', properties, required: names },
  })
  await runButton(page).click()
  await page.getByText('3 fields need attention').waitFor()
  for (const name of names) await page.getByLabel(name).fill(name)
  await runButton(page).click()
  expect(await sent(page, 'form.names')).toEqual(
    Object.fromEntries(names.map((name) => [name, name])),
  )
})
