import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Page } from 'playwright-core'

import { expectAccessible, useWorld } from './world'

const world = useWorld()
let agent: Client

beforeAll(async () => {
  await world.server.echo('pay', {
    name: 'Pay',
    permission_level: 'write',
    input_schema: {
      type: 'object',
      properties: {
        record: { type: 'string', title: 'Record' },
        amount: { type: 'number', title: 'Amount', maximum: 100 },
      },
      required: ['record', 'amount'],
    },
  })
  const authorization = `Bearer ${await world.server.agentKey('bookkeeper')}`
  agent = new Client({ name: 'a-bookkeeper', version: '1.0.0' })
  const address = new URL(`${world.server.url}/mcp`)
  const requestInit = { headers: { authorization } }
  await agent.connect(new StreamableHTTPClientTransport(address, { requestInit }))
})
afterAll(() => agent?.close())

interface Answer {
  isError?: boolean
  content: { type: string; text: string }[]
  structuredContent?: Record<string, any>
}

const call = (name: string, input: Record<string, unknown>) =>
  agent.callTool({ name, arguments: input }) as Promise<Answer>
const pay = (record: string, amount: number) => call('pay', { record, amount })

const badge = (page: Page) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Approvals 1 / })
const outcome = (page: Page, text: string) => page.getByRole('region', { name: text }).waitFor()

/** What came of a call in the end, as `get_run` tells it. */
const collected = async (run_id: string) =>
  (await call('get_run', { run_id })).structuredContent as Record<string, any>

/**
 * What an agent knows once its person has decided. It waits ten seconds for them: on a busy machine they may take
 * longer, and it collects the rest.
 */
async function inTheEnd(answer: Promise<Answer>): Promise<{ output?: unknown; error?: string }> {
  const { isError, content, structuredContent } = await answer
  if (isError) return { error: content[0]?.text }
  const { status, run_id } = structuredContent ?? {}
  if (status !== 'needs_approval') return { output: structuredContent }
  const open = ['needs_approval', 'pending', 'running']
  await expect.poll(async () => (await collected(run_id)).status).not.toBeOneOf(open)
  const { output, error } = await collected(run_id)
  return error ? { error } : { output }
}

/** A page that is loaded already: an agent does not wait for long. */
async function person(): Promise<Page> {
  const page = await world.signedIn()
  await page.clock.install()
  await page.goto('/approvals')
  await page.getByText('No requests are waiting').waitFor()
  return page
}

/** The page asks now and then whether something waits. So much time has passed when something does. */
async function soon(page: Page) {
  const waiting = async () => (await world.server.api('GET', '/api/approvals')).items.length
  await expect.poll(waiting).toBe(1)
  await page.clock.fastForward(5_000)
}

test('the call of an agent that waits returns what a person made of it', async () => {
  const page = await person()
  await expect.poll(() => badge(page).count()).toBe(0)
  const answer = pay('r1', 50)
  await soon(page)
  await badge(page).waitFor()
  await page.getByRole('link', { name: 'bookkeeper wants to run Pay (changes data)' }).click()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Amount').fill('7')
  await page.getByRole('button', { name: 'Review changes' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve with changes' }).click()

  const { output } = await inTheEnd(answer)
  expect(output).toEqual({ success: true, args: { record: 'r1', amount: 7 } })
  await outcome(page, 'You approved this')
  await page.clock.fastForward(5_000)
  await badge(page).waitFor({ state: 'detached' })
})

test('an agent that was sent away with an address collects the result later', async () => {
  const { isError, structuredContent } = await pay('r2', 20)
  expect(isError).toBeFalsy()
  expect(structuredContent?.status).toBe('needs_approval')
  const { run_id, url } = structuredContent as { run_id: string; url: string }
  const waiting = await call('get_run', { run_id })
  expect(waiting.structuredContent?.status).toBe('needs_approval')

  // The address as the agent would give it to its person.
  const page = await world.signedIn()
  await page.goto(url)
  await page.getByRole('heading', { name: 'bookkeeper wants to run Pay (changes data)' }).waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await outcome(page, 'You approved this')

  await expect.poll(async () => (await collected(run_id)).status).toBe('success')
  expect((await collected(run_id)).output).toEqual({
    success: true,
    args: { record: 'r2', amount: 20 },
  })
})

test('an agent is told that its call was declined', async () => {
  const page = await person()
  const answer = pay('r3', 99)
  await soon(page)
  await page.getByRole('link', { name: 'bookkeeper wants to run Pay (changes data)' }).click()
  await page.getByRole('button', { name: 'Deny' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Note').fill('not before Monday')
  await dialog.getByRole('button', { name: 'Deny the call' }).click()

  const { error } = await inTheEnd(answer)
  expect(error).toMatch(/declined|not before Monday/)
  await outcome(page, 'You denied this')
  await page.getByText('not before Monday').first().waitFor()
  const { items } = await world.server.api('GET', '/api/runs?tool=pay')
  expect(items[0].status).toBe('cancelled')
})
