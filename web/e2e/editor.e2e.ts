import type { Page } from 'playwright-core'

import { expectAccessible, expectNoSidewaysScroll, publishIt, said, useWorld } from './world'

const world = useWorld()

const focused = (page: Page) => page.evaluate(() => document.activeElement?.id)
const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Parts of the tool' }).getByRole('link', { name }).click()

test('whoever saves by keyboard never loses their place', async () => {
  const page = await world.signedIn()
  await page.goto('/admin/tools/new?kind=internal')
  world.expectComplaint(/422/)
  await page.getByRole('button', { name: 'Save draft' }).press('Enter')
  // The first field on the page is the first to be mended.
  await expect.poll(() => focused(page)).toBe('part-name')
  await page.getByLabel('Name', { exact: true }).fill('Größe 2.0 messen')
  // The slug follows the name; whoever wrote another one can go back to it.
  await page.getByLabel('Slug').fill('messen')
  await page.getByRole('button', { name: 'Use “groesse-2-0-messen”' }).press('Enter')
  await expect.poll(() => focused(page)).toBe('part-slug')
  await page.getByLabel('Description').fill('Measures.')
  // All faults are mended, and nothing is said any more.
  await page.getByRole('alert').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Save draft' }).press('Enter')
  await page.waitForURL('**/admin/tools/groesse-2-0-messen/edit*')
  await expect.poll(() => focused(page)).toBe('save-draft')
  await page.getByLabel('Description').fill('Measures it.')
  await page.getByRole('button', { name: 'Save & publish' }).press('Enter')
  await publishIt(page, 'Größe 2.0 messen')
  await expect.poll(() => focused(page)).toBe('save-publish')

  await page.goto('/admin/tools/groesse-2-0-messen/edit?tab=schema&side=output')
  await page.getByRole('button', { name: 'Describe the output' }).press('Enter')
  await expect.poll(() => focused(page)).toBe('part-output_schema')
})

test('a test that takes long says for how long, and can be ended', async () => {
  await world.server.echo('asked', { implementation_type: 'space', timeout_ms: 600_000 })
  const page = await world.signedIn()
  await page.goto('/admin/tools/asked/edit?tab=execution')
  const panel = page.getByRole('region', { name: 'Preview and test' })
  await panel.getByRole('button', { name: 'Test', exact: true }).click()
  await panel.getByText(/^So far: \d+ secs?$/).waitFor()
  // The way to the answer does not lead away from what is typed here.
  const answer = panel.getByRole('link', { name: 'Answer' })
  await expect.poll(() => answer.getAttribute('target')).toBe('_blank')
  await expectAccessible(page)
  await panel.getByRole('button', { name: 'Cancel the test' }).click()
  await panel.getByText('Cancelled').first().waitFor()
})

test('a function is chosen from a list and brings its form', async () => {
  const page = await world.signedIn()
  await page.goto('/admin/tools/new?kind=function&tab=execution')
  const list = page.getByRole('combobox', { name: 'Function' })
  await list.selectOption({ index: 1 })
  await expectAccessible(page)
  await tab(page, 'Identity')
  await expect.poll(() => page.getByLabel('Description').inputValue()).not.toBe('')
  await tab(page, 'Execution')
  // A form of one's own stays until somebody takes the other.
  await tab(page, 'Schema')
  await page.getByRole('button', { name: 'Add a field' }).first().click()
  await tab(page, 'Execution')
  await page.getByRole('button', { name: 'Use the schema of the function' }).click()
  await expect.poll(() => focused(page)).toBe('part-implementation-function_name')
})

test('a header that cannot be sent as it stands is kept, and told before it is lost', async () => {
  await world.server.echo('twice', { name: 'Twice' })
  const page = await world.signedIn({ width: 390 })
  await page.goto('/admin/tools/twice/edit?tab=execution')
  await page.getByRole('radio', { name: 'HTTP' }).click()
  await page.getByLabel('Address').fill('https://api.example.com/')
  for (const number of [1, 2]) {
    await page.getByRole('button', { name: 'Add a header' }).click()
    await page.getByLabel(`Name of header ${number}`).fill('X-A')
    await page.getByLabel(`Value of header ${number}`).fill(`value ${number}`)
  }
  await tab(page, 'Identity')
  await tab(page, 'Execution')
  await expect.poll(() => page.getByLabel('Value of header 2').inputValue()).toBe('value 2')
  await page.getByRole('button', { name: 'Save draft' }).click()
  const fault = 'Headers: A name is used twice.'
  await page.getByRole('alert').getByRole('button', { name: fault }).waitFor()
  await expectNoSidewaysScroll(page)
  await page.getByRole('button', { name: 'Remove header 2' }).click()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await said(page, 'Twice is saved')
})

test('a test result says when the inputs or the tool have changed since', async () => {
  await world.server.echo('outdated', { name: 'Outdated' })
  const page = await world.signedIn()
  await page.goto('/admin/tools/outdated/edit')
  const panel = page.getByRole('region', { name: 'Preview and test' })
  const note = panel.getByText('The inputs or the tool have changed since this result.')
  await panel.getByLabel('Text').fill('one')
  await panel.getByRole('button', { name: 'Test', exact: true }).click()
  await panel.getByText('Success', { exact: true }).first().waitFor()
  await expect.poll(() => note.count()).toBe(0)
  await panel.getByLabel('Text').fill('two')
  await note.waitFor()
  await expectAccessible(page)
  await panel.getByLabel('Text').fill('one')
  await note.waitFor({ state: 'detached' })
  // What nobody runs by changes nothing; the schema does, and a saved change is still one.
  await page.getByLabel('Description').fill('Says it differently.')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await said(page, 'Outdated is saved')
  expect(await note.count()).toBe(0)
  await tab(page, 'Schema')
  await page.getByRole('button', { name: 'Add a field' }).first().click()
  await page.getByLabel('Property').last().fill('more')
  await note.waitFor()
  await panel.getByRole('button', { name: 'Test', exact: true }).click()
  await note.waitFor({ state: 'detached' })
})
