import { expectAccessible, expectNoSidewaysScroll, useWorld } from './world'

const world = useWorld()

const PASSWORD = 'correct horse battery staple'

test('who comes by a link sets a password, and comes back with it', async () => {
  const page = await world.stranger({ width: 390 })
  await page.goto(world.server.link)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Set a password to sign in without a link next time.').waitFor()
  await page.getByText('Email for signing in: admin@demo.localhost').waitFor()
  await page.getByText('toolwright users link admin@demo.localhost').waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  world.expectComplaint(/422/)
  await page.getByLabel('New password').fill('short')
  await page.getByRole('button', { name: 'Set password' }).click()
  await expect.poll(() => page.getByLabel('New password').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('New password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.waitForURL('**/tools')

  world.expectComplaint(/401/)
  const other = await world.stranger()
  await other.goto('/sign-in')
  await other.getByLabel('Email').fill('admin@demo.localhost')
  await other.getByLabel('Password').fill(PASSWORD)
  await other.getByRole('button', { name: 'Sign in' }).click()
  await other.waitForURL('**/tools')

  // A password that is there is asked for before another takes its place.
  await other.getByRole('button', { name: 'Account' }).click()
  await other.getByRole('menuitem', { name: 'Set password' }).click()
  const dialog = other.getByRole('dialog', { name: 'Set password' })
  await dialog.getByLabel('Current password').fill('not this one')
  await dialog.getByLabel('New password').fill(`${PASSWORD} again`)
  await dialog.getByRole('button', { name: 'Set password' }).click()
  await dialog.getByText('The current password is wrong').waitFor()
  await expectAccessible(other)
  await dialog.getByLabel('Current password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Set password' }).click()
  await dialog.waitFor({ state: 'detached' })
  await other.getByLabel('Messages').getByText('Password set').waitFor()
  await other.goto('/runs')
  await other.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
})
