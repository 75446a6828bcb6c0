import { expectAccessible, expectNoSidewaysScroll, useWorld } from './world'

const world = useWorld()

test('a new tool begins with its kind, and the slug follows the name', async () => {
  const page = await world.signedIn()
  await page.goto('/admin/tools')
  await page.getByRole('link', { name: 'New tool' }).click()
  await page.getByRole('heading', { name: 'New tool', level: 1 }).waitFor()
  const kinds = page.getByRole('main').getByRole('listitem').getByRole('link')
  await expect.poll(() => kinds.allTextContents()).toHaveLength(9)
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Person' }).press('Enter')
  await page.waitForURL('**/admin/tools/new?kind=space')

  const name = page.getByLabel('Name', { exact: true })
  const slug = page.getByLabel('Slug')
  await name.fill('Übermäßig große Frage')
  await expect.poll(() => slug.inputValue()).toBe('uebermaessig-grosse-frage')
  await page.getByText('This slug is free').waitFor()
  await slug.fill('ask.much')
  await name.fill('Frage')
  await expect.poll(() => slug.inputValue()).toBe('ask.much')

  // Going back would lose what was typed.
  await page.goBack()
  await page.getByRole('dialog').getByRole('button', { name: 'Stay' }).click()
  await expect.poll(() => slug.inputValue()).toBe('ask.much')

  await page.getByLabel('Description').fill('Asks somebody.')
  await page
    .getByRole('navigation', { name: 'Parts of the tool' })
    .getByRole('link', { name: 'Execution' })
    .click()
  await expect.poll(() => page.getByRole('radio', { name: 'Person' }).isChecked()).toBe(true)
  const timeout = page.getByLabel('Timeout', { exact: true })
  await expect.poll(() => timeout.inputValue()).toBe('1')
  await timeout.fill('1,5')
  await page.getByLabel('Unit of “Timeout”').selectOption('hours')
  await page.getByLabel('Accept answers for', { exact: true }).fill('2')
  await page.getByLabel('Unit of “Accept answers for”').selectOption('days')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.waitForURL('**/admin/tools/ask.much/edit?tab=execution')
  const saved = await world.server.api('GET', '/api/tools/ask.much')
  expect(saved).toMatchObject({ implementation_type: 'space', timeout_ms: 5_400_000 })
  expect(saved.implementation.pending_ttl_ms).toBe(172_800_000)
})

test('the choice of a kind fits on a phone', async () => {
  const page = await world.signedIn({ width: 390 })
  await page.goto('/admin/tools/new')
  await page.getByRole('link', { name: 'HTTP' }).waitFor()
  await expectNoSidewaysScroll(page)
})
