import { expectAccessible, expectFocused, expectNoSidewaysScroll, useWorld } from './world'

const world = useWorld()

test('a stranger reads what an error means, and goes on from there', async () => {
  world.expectComplaint(/401/)
  const page = await world.stranger()
  await page.goto('/docs/errors/RATE_LIMITED')
  await page.getByRole('heading', { name: 'RATE_LIMITED', level: 1 }).waitFor()
  await expect.poll(() => page.title()).toBe('RATE_LIMITED · Toolwright')
  await expectAccessible(page)
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByText('Error codes').click()
  await page.getByRole('heading', { name: 'Error codes', level: 1 }).waitFor()
  // Relative links of the Markdown lead to pages of the app.
  await page.getByRole('article').getByRole('link', { name: 'faults' }).click()
  await page.getByRole('heading', { name: 'Faults', level: 1 }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/docs/faults')
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByLabel('Email').waitFor()
  expect(new URL(page.url()).searchParams.get('next')).toBe('/docs/faults')
})

test('the book is searched by title and heading, by keyboard', async () => {
  const page = await world.signedIn()
  await page.goto('/docs')
  await page.getByRole('heading', { name: 'Toolwright', level: 1 }).waitFor()
  await page.keyboard.press('/')
  await expectFocused(page.getByRole('searchbox'))
  await page.keyboard.type('kinds composition')
  await page.getByRole('navigation', { name: 'Results' }).getByRole('link').first().waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Kinds of tools', level: 1 }).waitFor()
  await expect.poll(() => new URL(page.url()).hash).toBe('#composition')
  const heading = page.locator('#composition')
  const isInSight = () =>
    heading.evaluate(
      (it) => it.getBoundingClientRect().top >= 0 && it.getBoundingClientRect().top < 300,
    )
  await expect.poll(isInSight).toBe(true)
})

test('code is copied as it is written', async () => {
  const page = await world.signedIn()
  await page.goto('/docs')
  await page.getByRole('article').getByRole('button', { name: 'Copy' }).first().click()
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  await expect.poll(copied).toBe('toolwright serve')
})

test('a page that is not there says so, and leads to those that are', async () => {
  world.expectComplaint(/404/)
  const page = await world.signedIn()
  await page.goto('/docs/no-such-page')
  await page.getByText('There is no such page in the documentation.').waitFor()
  await page.getByRole('link', { name: 'Go to the first page' }).click()
  await page.getByRole('heading', { name: 'Toolwright', level: 1 }).waitFor()
})

test.each(['/docs', '/docs/rights', '/docs/api', '/docs/api/create_tool'])(
  'the page %s fits a phone, and everyone can use it',
  async (path) => {
    const page = await world.signedIn({ width: 390, height: 844 })
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
  },
)

test('a failed run leads to the page of its code inside the app', async () => {
  const page = await world.signedIn()
  await page.goto('/tools/json_transform')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const slow = { slug: 'e2e.broken', implementation_type: 'http', permission_level: 'read' }
  await world.server.api('POST', '/api/tools', {
    ...slow,
    name: 'Broken',
    description: 'Asks where nobody may ask.',
    input_schema: { type: 'object', properties: {} },
    implementation: { url: 'http://127.0.0.1:1/', method: 'GET' },
    publish: true,
  })
  const run = await world.server.api('POST', '/api/tools/e2e.broken/run', { input: {} })
  await page.goto(`/runs/${run.run_id}`)
  await page.getByRole('link', { name: 'What this means' }).click()
  await page.getByRole('heading', { name: run.error_code, level: 1 }).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'What this means' }).waitFor()
})
