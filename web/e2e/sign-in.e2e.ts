import { expectAccessible, expectNoSidewaysScroll, useWorld } from './world'

const world = useWorld()

beforeAll(async () => {
  await world.server.api('POST', '/api/users', {
    email: 'ada@example.com',
    display_name: 'Ada',
    role: 'member',
    password: 'correct horse battery staple',
  })
})

test('opening a link uses nothing up, its button signs in, once', async () => {
  const page = await world.stranger()
  await page.goto(world.server.link)
  await page.reload()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Not now' }).click()
  await page.waitForURL('**/tools')
  await page.getByRole('link', { name: 'Toolwright' }).waitFor()

  world.expectComplaint(/401/)
  const second = await world.stranger()
  await second.goto(world.server.link)
  await second.getByRole('button', { name: 'Sign in' }).click()
  await second.getByText('This link was already used or has expired.').waitFor()
  await expect.poll(() => second.getByRole('button').count()).toBe(0)
  await second.getByRole('link', { name: 'Sign in with a password' }).click()
  await second.getByLabel('Email').waitFor()
})

test('a password signs in, a wrong one says so and keeps the address', async () => {
  world.expectComplaint(/401/)
  const page = await world.stranger()
  await page.goto('/runs?status=error')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill('wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  await expect.poll(() => page.getByLabel('Email').inputValue()).toBe('ada@example.com')

  await page.getByLabel('Password').fill('correct horse battery staple')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL('**/runs?status=error')

  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL('**/sign-in')
  await page.goto('/tools')
  await page.waitForURL('**/sign-in**')
})

test('a link cannot send people on to another site', async () => {
  world.expectComplaint(/401/)
  const page = await world.stranger()
  await page.goto('/sign-in?next=https://evil.example/')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill('correct horse battery staple')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${world.server.url}/tools`)
})

test('everyone can use the page, on a phone too', async () => {
  world.expectComplaint(/401/)
  const page = await world.stranger({ width: 390 })
  await page.goto('/sign-in')
  await page.getByLabel('Email').waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test('every request of a page says which tenant it shows', async () => {
  world.expectComplaint(/401/)
  const page = await world.stranger()
  await page.goto('/sign-in')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill('correct horse battery staple')
  const listing = page.waitForRequest('**/api/tools?**')
  await page.getByRole('button', { name: 'Sign in' }).click()
  expect((await listing).headers()['x-toolwright-tenant']).toBe('demo')
})
