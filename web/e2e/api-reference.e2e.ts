import type { Page } from 'playwright-core'
import { expectAccessible, expectFocused, expectFocusIn, useWorld } from './world'

const world = useWorld()

/** Waits for the answer to a request. The numbers of all answers that there can be stand on the page from the start. */
async function answered(page: Page, status: number) {
  await page
    .getByRole('paragraph')
    .filter({ hasText: new RegExp(`^${status}.*ms`) })
    .waitFor()
}

test('the reference is where it was, and finds operations by word', async () => {
  const page = await world.signedIn()
  await page.goto('/api/docs')
  await page.getByRole('heading', { name: 'API reference', level: 1 }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/docs/api')
  await page.keyboard.press('/')
  await page.keyboard.type('post credentials test')
  await page.getByRole('navigation', { name: 'Operations' }).getByText('/test').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: '/api/credentials/{id}/test' }).waitFor()
  await expect.poll(() => page.title()).toMatch(/^POST \/api\/credentials/)
})

test('a request is filled in, sent with the rights of the login, and its answer shown', async () => {
  const page = await world.signedIn()
  await page.goto('/docs/api/get_tool')
  await page.getByRole('button', { name: 'Send' }).click()
  const field = page.getByLabel('tool path')
  await expectFocused(field)
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  await field.fill('roi-calculator')
  await page.getByRole('group', { name: 'curl' }).getByText('/api/tools/roi-calculator').waitFor()
  await page.keyboard.press('Enter')
  await answered(page, 200)
  await page.getByRole('group', { name: 'Response body' }).getByText('"ROI Calculator"').waitFor()
  await page.getByText(/^\d+ headers$/).click()
  await page.getByText('x-request-id').waitFor()
  await expectAccessible(page)
})

test('the example makes a tool, a fault is marked in the body, and removal asks first', async () => {
  world.expectComplaint(/422|404/)
  const page = await world.signedIn()
  await page.goto('/docs/api/create_tool')
  const body = page.getByRole('textbox', { name: 'Body' })
  await body.getByText('"greet"').first().waitFor()
  await page.getByRole('button', { name: 'Send' }).click()
  await answered(page, 201)
  await body.fill('{ "slug": "Not a slug" }')
  await page.getByRole('button', { name: 'Send' }).click()
  await answered(page, 422)
  await expect.poll(() => body.getAttribute('aria-invalid')).toBe('true')
  await page.getByRole('link', { name: /^What [A-Z_]+ means$/ }).waitFor()

  await page.goto('/docs/api/remove_tool')
  await page.getByLabel('tool path').fill('greet')
  await page.getByRole('button', { name: 'Send' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('DELETE /api/tools/greet').waitFor()
  await expectFocusIn(dialog)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect((await world.server.api('GET', '/api/tools/greet')).slug).toBe('greet')
  await page.getByRole('button', { name: 'Send' }).click()
  await dialog.getByRole('button', { name: 'Send' }).click()
  await answered(page, 204)
  const tools = await world.server.api('GET', '/api/tools?q=greet')
  expect(tools.items).toEqual([])
})

test('a stranger reads the reference and is asked to sign in before sending', async () => {
  world.expectComplaint(/401/)
  const page = await world.stranger()
  await page.goto('/docs/api/list_tools')
  await page.getByText('to send this request from here.').waitFor()
  expect(await page.getByRole('button', { name: 'Send' }).count()).toBe(0)
  await page.goto('/docs/api/get_health')
  await page.getByRole('button', { name: 'Send' }).click()
  await answered(page, 200)
})
