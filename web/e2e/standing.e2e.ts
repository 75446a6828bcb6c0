import { expectAccessible, expectNoSidewaysScroll, said, useWorld } from './world'

const world = useWorld()

const SCHEMA = {
  type: 'object',
  properties: {
    customer: { type: 'string', title: 'Customer' },
    amount: { type: 'number', title: 'Amount' },
  },
}

let agent: string

const made = async (slug: string, level: string) => {
  agent ??= await world.server.agentKey('clerk')
  await world.server.echo(slug, {
    name: 'Refund',
    input_schema: SCHEMA,
    permission_level: level,
  })
}

const called = (slug: string, input: unknown) =>
  world.server.api('POST', `/api/tools/${slug}/run`, { input }, agent)

test('the same is approved for hours, seen in the run, listed by label and revoked', async () => {
  await made('refund', 'write')
  const asked = await called('refund', { customer: 'ACME', amount: 5 })
  const page = await world.signedIn()
  await page.goto(`/approvals/${asked.approval_id}`)
  await page.getByRole('button', { name: 'Approve calls like this…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Approve the call of Refund?' })
  expect(await dialog.getByLabel('The whole input').isChecked()).toBe(true)
  await dialog.getByLabel('For how long').selectOption('8 hours')
  await dialog.getByLabel('Only these fields').check()
  await dialog.getByRole('checkbox', { name: 'Amount: 5' }).uncheck()
  await dialog.getByRole('checkbox', { name: 'Customer: ACME' }).uncheck()
  await dialog.getByText('Choose at least one field.').waitFor()
  const send = dialog.getByRole('button', { name: 'Approve this and later calls' })
  expect(await send.getAttribute('aria-disabled')).toBe('true')
  await dialog.getByRole('checkbox', { name: 'Customer: ACME' }).check()
  await expectAccessible(page)
  await send.click()
  await page.getByText('You approved this').waitFor()

  const later = await called('refund', { customer: 'ACME', amount: 7 })
  expect(later.status).toBe('success')
  await page.goto(`/runs/${later.run_id}`)
  await page.getByText('Approved by a standing approval').waitFor()
  await expectAccessible(page)
  expect((await called('refund', { customer: 'Globex', amount: 7 })).status).toBe('needs_approval')

  await page.goto('/approvals')
  await page.getByRole('link', { name: 'Standing approvals', exact: true }).click()
  await page.getByRole('heading', { name: 'clerk may run Refund' }).waitFor()
  const row = page.getByRole('list', { name: 'Standing approvals' }).getByRole('listitem')
  await row.getByText('1 call allowed').waitFor()
  expect(await row.innerText()).toMatch(/Customer\s+ACME/)
  expect(await row.innerText()).not.toContain('Amount')
  expect(await page.title()).toContain('Standing approvals')
  await expectAccessible(page)
  await row.getByRole('button', { name: 'Revoke clerk, Refund' }).click()
  const revoke = page.getByRole('dialog')
  await expectAccessible(page)
  await revoke.getByRole('button', { name: 'Revoke' }).click()
  await said(page, 'Revoked: calls of Refund by clerk wait for a decision again.')
  await page.getByText('No standing approvals').waitFor()
  expect((await called('refund', { customer: 'ACME', amount: 7 })).status).toBe('needs_approval')
  await page.getByRole('link', { name: 'Revoked' }).click()
  await page.getByRole('heading', { name: 'clerk may run Refund' }).waitFor()
  expect(await page.getByRole('button', { name: /^Revoke/ }).count()).toBe(0)
})

test('the list of requests offers it on a phone, by the key that approves', async () => {
  await made('noted', 'write')
  await called('noted', { customer: 'ACME' })
  const page = await world.signedIn({ width: 390 })
  await page.goto('/approvals?tool=noted')
  await page.locator('[data-approval]').first().focus()
  await page.keyboard.press('a')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Approve calls like this for a while').check()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Approve this and later calls' }).click()
  await said(page, 'Approved: Refund ran successfully.')
  expect((await called('noted', { customer: 'ACME' })).status).toBe('success')
  await page.goto('/approvals/standing')
  await page.getByText('With exactly this input').waitFor()
  await expectNoSidewaysScroll(page)
})

test('what destroys is approved one at a time', async () => {
  await made('wiped', 'destructive')
  const asked = await called('wiped', { customer: 'ACME' })
  const page = await world.signedIn()
  await page.goto(`/approvals/${asked.approval_id}`)
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.getByRole('dialog').getByText('This permanently deletes').waitFor()
  expect(await page.getByText('for a while').count()).toBe(0)
})
