import type { Page } from 'playwright-core'

import {
  expectAccessible,
  expectFocused,
  expectFocusIn,
  expectNoSidewaysScroll,
  readOf,
  said,
  useWorld,
} from './world'

const world = useWorld()
let agent = ''

const PASSWORD = 'correct horse battery staple'

beforeAll(async () => {
  agent = await world.server.agentKey()
  const input_schema = {
    type: 'object',
    properties: {
      record: { type: 'string', title: 'Record' },
      amount: { type: 'number', title: 'Amount', maximum: 100 },
    },
    required: ['record', 'amount'],
  }
  await world.server.echo('pay', { name: 'Pay', permission_level: 'write', input_schema })
  await world.server.echo('wipe', { name: 'Wipe', permission_level: 'destructive', input_schema })
  for (const role of ['approver', 'member']) {
    const user = { email: `${role}@example.com`, display_name: role, role, password: PASSWORD }
    await world.server.api('POST', '/api/users', user)
  }
})

interface Parked {
  run_id: string
  approval_id: string
}

const park = (record: string, amount = 5, tool = 'pay'): Promise<Parked> =>
  world.server.api('POST', `/api/tools/${tool}/run`, { input: { record, amount } }, agent)

async function signIn(role: 'approver' | 'member', next: string): Promise<Page> {
  const page = await world.signedInAs(`${role}@example.com`, PASSWORD)
  await page.goto(next)
  return page
}

const outcome = (page: Page, text: string) => page.getByRole('region', { name: text }).waitFor()

test('a waiting agent gets what a person edited and approved', async () => {
  const input = { record: 'r1', amount: 50 }
  const call = { input, wait_ms: 120_000 }
  const answer = world.server.api('POST', '/api/tools/pay/run', call, agent)
  const page = await world.signedIn()
  await page.goto('/approvals')
  await page.getByRole('link', { name: 'bot wants to run Pay (changes data)' }).click()
  await page.getByRole('heading', { name: 'bot wants to run Pay (changes data)' }).waitFor()
  await page.getByText('The tool changes data').waitFor()
  // What is to be read looks like nothing that could be typed into.
  const asked = page.getByRole('region', { name: 'What will be sent' })
  await expect.poll(() => readOf(asked, 'Amount').textContent()).toBe('50')
  await expect.poll(() => asked.locator('input, textarea').count()).toBe(0)

  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Amount').fill('7')
  await page.getByLabel('Note').fill('seven is enough')
  await page.getByRole('button', { name: 'Review changes' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('row', { name: 'Amount 50 7' }).waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Approve with changes' }).click()

  await outcome(page, 'You approved this')
  await page.getByText('seven is enough').waitFor()
  const { status, output } = await answer
  expect(status).toBe('success')
  expect(output.args).toEqual({ record: 'r1', amount: 7 })
  await expectAccessible(page)
})

test('a number that is written in another way is no change', async () => {
  // As programs write it that tell 10.0 from 10.
  const parked = async () => {
    const answer = await fetch(`${world.server.url}/api/tools/pay/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent}`, 'content-type': 'application/json' },
      body: '{"input": {"record": "tenth", "amount": 10.0}}',
    })
    return (await answer.json()) as Parked
  }
  const changed = async ({ approval_id }: Parked) => {
    const { changes } = await world.server.api('GET', `/api/approvals/${approval_id}`)
    return changes.map(({ path }: { path: string }) => path)
  }
  const first = await parked()
  const page = await world.signedIn()
  await page.goto(`/approvals/${first.approval_id}#edit`)
  await page.getByLabel('Record').fill('eleventh')
  await page.getByRole('button', { name: 'Review changes' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('row', { name: /^Record/ }).waitFor()
  await expect.poll(() => dialog.getByRole('row').count()).toBe(2)
  await dialog.getByRole('button', { name: 'Approve with changes' }).click()
  await outcome(page, 'You approved this')
  expect(await changed(first)).toEqual(['/record'])

  const second = await parked()
  const input = { record: 'eleventh', amount: 10 }
  await world.server.api('POST', `/api/approvals/${second.approval_id}/approve`, { input })
  expect(await changed(second)).toEqual(['/record'])
})

test('what does not fit is told at its field, and nothing typed is lost', async () => {
  const { approval_id } = await park('fits', 5)
  const page = await world.signedIn()
  await page.goto(`/approvals/${approval_id}#edit`)
  await page.getByLabel('Amount').fill('500')
  await page.getByRole('button', { name: 'Review changes' }).click()
  await expect.poll(() => page.getByLabel('Amount').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('Amount').fill('70')
  await page.reload()
  await expect.poll(() => page.getByLabel('Amount').inputValue()).toBe('70')
  await page.getByRole('button', { name: 'Discard changes' }).click()
  await expect.poll(() => readOf(page, 'Amount').textContent()).toBe('5')
})

test('two people on the same approval both end in the truth', async () => {
  const { approval_id } = await park('both')
  const first = await world.signedIn()
  await first.goto(`/approvals/${approval_id}`)
  const second = await signIn('approver', `/approvals/${approval_id}`)
  await first.getByRole('button', { name: 'Approve', exact: true }).waitFor()
  await second.getByRole('button', { name: 'Edit' }).click()
  await second.getByLabel('Amount').fill('9')

  await first.getByRole('button', { name: 'Deny' }).click()
  const dialog = first.getByRole('dialog')
  await dialog.getByLabel('Note').fill('not today')
  await dialog.getByRole('button', { name: 'Deny the call' }).click()
  await outcome(first, 'You denied this')

  await outcome(second, 'Denied by')
  await second.getByText('This request was settled before you decided').waitFor()
  await second.getByText('not today').first().waitFor()
  const unsent = second.getByRole('region', { name: 'Not sent: what you typed' })
  await expect.poll(() => unsent.textContent()).toContain('"amount": 9')
  await expect
    .poll(() => second.getByRole('button', { name: 'Approve', exact: true }).count())
    .toBe(0)
})

test('whoever decides second is told how it ended', async () => {
  world.expectComplaint(/409/)
  const { approval_id } = await park('race')
  const page = await world.signedIn()
  // The page does not hear of the other decision before it sends its own.
  await page.goto(`/approvals/${approval_id}`)
  await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
  world.expectComplaint(/ERR_FAILED/)
  let deaf = true
  // One look that fails: whatever was asked before has been answered by then.
  const failed = page.waitForEvent('requestfailed', (request) =>
    request.url().endsWith(approval_id),
  )
  await page.route(`**/api/approvals/${approval_id}`, (route) =>
    deaf ? route.abort() : route.continue(),
  )
  await failed
  await world.server.api('POST', `/api/approvals/${approval_id}/deny`, { note: 'too late' })
  const refused = page.waitForResponse((response) => response.status() === 409)
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await refused
  deaf = false
  await page.getByText('This request was settled before your decision arrived').waitFor()
  await page.getByText('too late').first().waitFor()
})

test('whose buttons go away because others were faster is told so, and led to the outcome', async () => {
  const { approval_id } = await park('gone meanwhile')
  const page = await signIn('approver', `/approvals/${approval_id}`)
  await page.getByLabel('Note').fill('mine')
  await world.server.api('POST', `/api/approvals/${approval_id}/deny`, { note: 'theirs' })
  await outcome(page, 'Denied by')
  await page.getByText('This request was settled before you decided').waitFor()
  await page.getByRole('region', { name: 'Not sent: what you typed' }).waitFor()
  const focused = () => page.evaluate(() => document.activeElement?.textContent)
  await expect.poll(focused).toMatch(/^Denied by/)
  await expectAccessible(page)
  // Whoever comes later had nothing to decide, and reads of no race.
  await page.reload()
  await outcome(page, 'Denied by')
  await expect
    .poll(() => page.getByText('This request was settled before you decided').count())
    .toBe(0)
})

test('whoever is about to decide in the list is told that others were faster', async () => {
  const { approval_id } = await park('taken from the list')
  const page = await signIn('approver', '/approvals')
  await page.getByText('taken from the list').waitFor()
  await page.locator(`[data-approval="${approval_id}"]`).focus()
  await page.keyboard.press('a')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Note').fill('fine with me')
  await world.server.api('POST', `/api/approvals/${approval_id}/deny`, { note: 'not at all' })
  const settled = page.getByRole('dialog', { name: 'Settled before you decided' })
  await settled.getByText('Denied by').waitFor()
  await settled.getByText('not at all').waitFor()
  await settled.getByText('fine with me').waitFor()
  await expectAccessible(page)
  await expectFocused(settled.getByRole('button', { name: 'Back' }))
  await page.keyboard.press('Enter')
  await settled.waitFor({ state: 'detached' })
  await expect.poll(() => page.url()).toMatch(/\/approvals$/)
})

test('what is destructive is asked twice', async () => {
  const { approval_id, run_id } = await park('gone', 1, 'wipe')
  const page = await world.signedIn()
  world.expectComplaint(/403/)
  await page.goto(`/approvals/${approval_id}`)
  await page.getByText('Destructive', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('This permanently deletes or overwrites data.').waitFor()
  expect((await world.server.api('GET', `/api/runs/${run_id}`)).status).toBe('needs_approval')
  await dialog.getByRole('button', { name: 'Approve and run' }).click()
  // Here another approver exists, so the owner of the agent may not decide alone, and is told why.
  await page.getByText('You cannot decide on this request').waitFor()

  const other = await signIn('approver', `/approvals/${approval_id}`)
  await other.getByRole('button', { name: 'Approve', exact: true }).click()
  await other.getByRole('button', { name: 'Approve and run' }).click()
  await outcome(other, 'You approved this')
  await outcome(page, 'Approved by: approver')
})

test('the keyboard alone is enough', async () => {
  const [one, two] = [await park('key one'), await park('key two')]
  const page = await world.signedIn()
  await page.goto('/approvals')
  await page.getByText('key two').waitFor()
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-approval'))
  await expect.poll(focused).toBeFalsy()
  while ((await focused()) !== one.approval_id) await page.keyboard.press('j')
  await page.keyboard.press('j')
  await expect.poll(focused).toBe(two.approval_id)
  await page.keyboard.press('k')
  await expect.poll(focused).toBe(one.approval_id)

  await page.keyboard.press('?')
  await expectFocusIn(page.getByRole('dialog', { name: 'Shortcuts' }))
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  // The focus is back where it was.
  await expect.poll(focused).toBe(one.approval_id)

  await page.keyboard.press('d')
  const dialog = page.getByRole('dialog')
  await expectFocused(dialog.getByLabel('Note'))
  await page.keyboard.type('no, said the keyboard')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await said(page, 'Denied: Pay will not run.')
  await dialog.waitFor({ state: 'detached' })
  // The one below has moved up, and the focus is on it.
  await expect.poll(focused).toBe(two.approval_id)
  const denied = await world.server.api('GET', `/api/approvals/${one.approval_id}`)
  expect([denied.status, denied.note]).toEqual(['denied', 'no, said the keyboard'])

  await page.keyboard.press('Enter')
  await page.waitForURL(`**/approvals/${two.approval_id}`)
  await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
  await page.keyboard.press('a')
  await expectFocused(dialog.getByRole('button', { name: 'Approve and run' }))
  await page.keyboard.press('Enter')
  await outcome(page, 'You approved this')
  const heading = () => page.evaluate(() => document.activeElement?.textContent)
  await expect.poll(heading).toBe('You approved this')
})

test('what came of a decision in the list is said, with the way to the run', async () => {
  const { run_id, approval_id } = await park('decided in the list')
  const page = await world.signedIn()
  await page.goto('/approvals')
  await page.locator(`[data-approval="${approval_id}"]`).focus()
  await page.keyboard.press('a')
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and run' }).click()
  const messages = page.getByLabel('Messages')
  // What a pointer rests on stays.
  await messages.getByText('Approved: Pay ran successfully.').hover()
  await expectAccessible(page)
  await messages.getByRole('button', { name: 'Open the run' }).click()
  await page.waitForURL(`**/runs/${run_id}`)
})

test('the list is live, and can show what was decided', async () => {
  const page = await world.signedIn()
  await page.goto('/approvals')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const { approval_id } = await park('just came')
  await page.getByText('just came').waitFor()
  await world.server.api('POST', `/api/approvals/${approval_id}/deny`, {})
  await page.getByText('just came').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Denied' }).click()
  await page.waitForURL('**/approvals?status=denied')
  const list = page.getByRole('list', { name: 'Approvals' })
  await list.getByRole('listitem').first().getByText('just came').waitFor()
})

test('a member is told why there is nothing to decide for them', async () => {
  const { approval_id } = await park('not yours')
  world.expectComplaint(/403/)
  const page = await signIn('member', `/approvals/${approval_id}`)
  await page.getByText('You cannot see this approval').waitFor()
  await page.getByRole('link', { name: 'Runs that wait for approval' }).waitFor()
  await expectAccessible(page)
})

test.each([1280, 390])('everyone can use the list, %i pixels wide', async (width) => {
  await park('x'.repeat(400))
  const page = await world.signedIn({ width })
  await page.goto('/approvals')
  await page
    .getByRole('link', { name: /wants to run Pay/ })
    .first()
    .waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test.each([1280, 390])('everyone can edit, %i pixels wide', async (width) => {
  const { approval_id } = await park('x'.repeat(400))
  const page = await world.signedIn({ width })
  await page.goto(`/approvals/${approval_id}#edit`)
  await page.getByRole('button', { name: 'Review changes' }).waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test('a server that is away for a while takes nothing from what was typed', async () => {
  const { approval_id } = await park('patience')
  const page = await world.signedIn()
  await page.goto(`/approvals/${approval_id}#edit`)
  await page.getByLabel('Amount').fill('8')
  await page.getByRole('button', { name: 'Review changes' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Note').fill('kept')

  // How a request fails depends on how far it came.
  world.expectComplaint(/ERR_|Failed to load/)
  await world.server.down()
  await dialog.getByRole('button', { name: 'Approve with changes' }).click()
  await dialog.getByText('The server cannot be reached').waitFor()
  const confirm = dialog.getByRole('button', { name: 'Approve with changes' })
  await expectFocused(confirm)
  await world.server.up()
  await expect.poll(() => dialog.getByLabel('Note').inputValue()).toBe('kept')
  await dialog.getByRole('button', { name: 'Approve with changes' }).click()
  await outcome(page, 'You approved this')
  const { input, note } = await world.server.api('GET', `/api/approvals/${approval_id}`)
  expect([input.amount, note]).toEqual([8, 'kept'])
})

test('whose sign-in runs out signs in over the page, and decides', async () => {
  world.expectComplaint(/401/)
  const { approval_id } = await park('expired')
  const page = await signIn('approver', `/approvals/${approval_id}`)
  await page.getByLabel('Note').fill('kept too')
  await page.context().clearCookies()
  const dialog = page.getByRole('dialog', { name: 'Session expired' })
  // The page looks for news, and hears of it first. Who puts it off is asked again when they decide.
  await expectFocusIn(dialog)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await dialog.getByLabel('Email').fill('approver@example.com')
  await dialog.getByLabel('Password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => page.getByLabel('Note').inputValue()).toBe('kept too')
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await outcome(page, 'You approved this')
  expect((await world.server.api('GET', `/api/approvals/${approval_id}`)).note).toBe('kept too')
})

test('a member answers what somebody else asks, without a way that is shut to them', async () => {
  await world.server.api('POST', '/api/tools', {
    slug: 'ask',
    name: 'Ask somebody',
    description: 'Asks a person about a city.',
    implementation_type: 'space',
    timeout_ms: 600_000,
    permission_level: 'read',
    input_schema: { type: 'object', properties: { city: { type: 'string', title: 'City' } } },
    output_schema: {
      type: 'object',
      properties: { verdict: { type: 'string', title: 'Verdict' } },
      required: ['verdict'],
    },
    publish: true,
  })
  const call = { input: { city: 'Graz' }, wait_ms: 1 }
  const { pending_tool_call_id: id } = await world.server.api('POST', '/api/tools/ask/run', call)
  const page = await signIn('member', `/approvals/answers/${id}`)
  await page.getByRole('heading', { level: 1, name: 'Ask somebody' }).waitFor()
  await page.getByText('Asks a person about a city.').waitFor()
  const asked = page.getByRole('region', { name: 'Question' })
  await expect.poll(() => readOf(asked, 'City').textContent()).toBe('Graz')
  await expect.poll(() => page.getByRole('link', { name: 'Open the run' }).count()).toBe(0)

  await page.getByRole('button', { name: 'Decline' }).click()
  await page.getByLabel('Reason').fill('I do not know Graz')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Decline' }).click()
  await expect.poll(() => page.getByLabel('Reason').inputValue()).toBe('I do not know Graz')
  await page.keyboard.press('Escape')

  await page.getByLabel('Verdict').fill('Lovely town')
  await page.getByRole('button', { name: 'Send answer' }).click()
  await page.getByRole('region', { name: 'You answered this' }).getByText('Lovely town').waitFor()
  await expectAccessible(page)
})

test('a browser that takes itself for offline still reads and decides', async () => {
  const { approval_id } = await park('offline')
  const page = await world.signedIn()
  await page.goto('/approvals')
  // The event alone: the server can be reached, as one on the same machine can.
  await page.evaluate(() => dispatchEvent(new Event('offline')))
  await page.goto(`/approvals/${approval_id}`)
  await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
  await page.evaluate(() => dispatchEvent(new Event('offline')))
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await outcome(page, 'You approved this')
})

test('a tool that an agent wants made can be read', async () => {
  const input = {
    action: 'create',
    slug: 'made.by_agent',
    name: 'Made',
    description: 'Made by an agent.',
    implementation_type: 'internal',
    input_schema: { type: 'object', properties: { whom: { type: 'string' } } },
  }
  const call = { input }
  const { approval_id } = await world.server.api('POST', '/api/tools/manageTools/run', call, agent)
  const page = await world.signedIn()
  await page.goto(`/approvals/${approval_id}`)
  await expect.poll(() => readOf(page, 'Input Schema').textContent()).toContain('"whom"')
  await expect.poll(() => page.getByText('Icon', { exact: true }).count()).toBe(0)
  await expectAccessible(page)
})

test('when the time is over there is nothing left to press', async () => {
  const { approval_id } = await park('late')
  const page = await world.signedIn()
  await page.clock.install({ time: Date.now() + 25 * 3_600_000 })
  await page.goto(`/approvals/${approval_id}`)
  await page.getByText('The time to decide has expired.').waitFor()
  await expect
    .poll(() => page.getByRole('button', { name: 'Approve', exact: true }).count())
    .toBe(0)
})

test('a draft of the tool does not change the form of what waits', async () => {
  const { approval_id } = await park('as published')
  const input_schema = { type: 'object', properties: { other: { type: 'string', title: 'Other' } } }
  await world.server.api('PATCH', '/api/tools/pay', { input_schema })
  const page = await world.signedIn()
  await page.goto(`/approvals/${approval_id}`)
  await expect.poll(() => readOf(page, 'Record').textContent()).toBe('as published')
  await expect.poll(() => page.getByText('Other', { exact: true }).count()).toBe(0)

  await world.server.api('POST', '/api/tools/pay/publish', { accept_breaking: true })
  world.expectComplaint(/409/)
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await outcome(page, 'The call was withdrawn before anybody decided')
  await page.getByText('the tool has changed since the approval was asked for').waitFor()
})
