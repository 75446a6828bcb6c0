import type { Page } from 'playwright-core'

import { expectAccessible, expectFocused, expectNoSidewaysScroll, said, useWorld } from './world'

const world = useWorld()

const SCHEMA = {
  type: 'object',
  properties: {
    city: { type: 'string', title: 'City' },
    days: { type: 'integer', title: 'Days', default: 3 },
  },
  required: ['city'],
}

const made = (slug: string) =>
  world.server.echo(slug, { name: 'Forecast', input_schema: SCHEMA, permission_level: 'read' })

const add = (slug: string, name: string, input: unknown, expect: unknown) =>
  world.server.api('POST', `/api/tools/${slug}/tests`, { name, input, expect })

const tests = (page: Page, slug: string) => page.goto(`/admin/tools/${slug}/edit?tab=tests`)

test('a test case is made by form, run, mended and removed', async () => {
  await made('tested')
  const page = await world.signedIn()
  await tests(page, 'tested')
  await page.getByText('No test cases yet').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Add the first test case' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add test case' })
  await expectFocused(dialog.getByLabel('Name'))
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Enter a name').waitFor()
  await dialog.getByLabel('Name').fill('Vienna')
  await dialog.getByLabel('City').fill('Vienna')
  const contains = dialog.getByLabel('Output contains (JSON)')
  await contains.fill('{"args": {"city": "Graz"}')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Not valid JSON').waitFor()
  await expectAccessible(page)
  await contains.fill('{"args": {"city": "Graz"}}')
  await dialog.getByLabel('jq filter').fill('.args.days >')
  await dialog.getByRole('button', { name: 'Save' }).click()
  world.expectComplaint(/422/)
  await expect.poll(() => dialog.getByLabel('jq filter').getAttribute('aria-invalid')).toBe('true')
  await dialog.getByLabel('jq filter').fill('.args.days == 3')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('Not run yet').waitFor()

  await page.getByRole('button', { name: 'Run all' }).click()
  await page.getByText('1 failed. 0 passed.').waitFor()
  const row = page.getByRole('row', { name: '/output/args/city' })
  expect(await row.innerText()).toMatch(/"Graz"\s+"Vienna"/)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Edit Vienna' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit test case' })
  await expect.poll(() => edit.getByLabel('City').inputValue()).toBe('Vienna')
  await edit.getByLabel('Output contains (JSON)').fill('{"args": {"city": "Vienna"}}')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Run Vienna' }).click()
  await page.getByText('The test case passed.').waitFor()
  const { items } = await world.server.api('GET', '/api/tools/tested/tests')
  expect(items).toMatchObject([
    {
      input: { city: 'Vienna', days: 3 },
      expect: { contains: { args: { city: 'Vienna' } }, jq: '.args.days == 3' },
      last_result: { passed: true },
    },
  ])

  await page.getByRole('button', { name: 'Remove Vienna' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await said(page, 'Test case “Vienna” is removed')
  await page.getByText('No test cases yet').waitFor()
})

test('test cases run one by one and against a version, and say when the tool has changed since', async () => {
  await made('aged')
  await add('aged', 'Right', { city: 'Graz' }, {})
  await add('aged', 'Refused', {}, { error_code: 'MISSING_PARAM' })
  await world.server.api('POST', '/api/tools/aged/tests/run', {})
  await world.server.api('PATCH', '/api/tools/aged', {
    input_schema: {
      ...SCHEMA,
      properties: { ...SCHEMA.properties, country: { type: 'string' } },
      required: ['city', 'country'],
    },
  })
  const page = await world.signedIn({ width: 390 })
  await tests(page, 'aged')
  await expect.poll(() => page.getByText('Changed since the last run').count()).toBe(2)
  await expectNoSidewaysScroll(page)
  await page.getByRole('button', { name: 'Run Right' }).click()
  await page.getByText('1 failed. 0 passed.').waitFor()
  await page.getByText('/error_code').waitFor()
  await expectNoSidewaysScroll(page)
  await page.getByLabel('Run against').selectOption('1.0.0')
  await page.getByRole('button', { name: 'Run all' }).click()
  await page.getByText('All 2 test cases passed.').waitFor()
})

test('a run becomes a test case, for authors and of their own tools', async () => {
  await made('ran')
  const run = await world.server.api('POST', '/api/tools/ran/run', { input: { city: 'Linz' } })
  const page = await world.signedIn()
  await page.goto(`/runs/${run.run_id}`)
  await page.getByRole('button', { name: 'Make a test case' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add test case' })
  await expect.poll(() => dialog.getByLabel('City').inputValue()).toBe('Linz')
  expect(await dialog.getByLabel('Name').inputValue()).toContain('Run of ')
  expect(JSON.parse(await dialog.getByLabel('Output contains').inputValue())).toEqual(run.output)
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await said(page, 'is saved')
  await page.getByRole('button', { name: 'Show test cases' }).click()
  await page.getByText('Not run yet').waitFor()

  const input = { operation: 'now' }
  const own = await world.server.api('POST', '/api/tools/datetime_utils/run', { input })
  await page.goto(`/runs/${own.run_id}`)
  await page.getByRole('link', { name: 'Run again with changes' }).waitFor()
  await page.getByRole('heading', { name: 'Events' }).waitFor()
  expect(await page.getByRole('button', { name: 'Make a test case' }).count()).toBe(0)
})
