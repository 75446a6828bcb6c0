import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expectAccessible, expectNoSidewaysScroll, said, useWorld } from './world'

let receiver: Server
const got: { request: IncomingMessage; body: string }[] = []
let status = 200

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (piece) => (body += piece))
    request.on('end', () => {
      got.push({ request, body })
      response.statusCode = status
      response.end('thanks for nothing')
    })
  })
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
})

afterAll(() => void receiver.close())

const host = () => `127.0.0.1:${(receiver.address() as AddressInfo).port}`

const world = useWorld(() => ({ TOOLWRIGHT_EGRESS__ALLOW: host() }))

test('a webhook is made, its secret verifies, it is tested, sent again, switched off and deleted', async () => {
  const page = await world.signedIn()
  await page.goto('/admin/tools')
  const main = page.getByRole('navigation', { name: 'Main' })
  await main.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByText('No webhooks yet').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'New webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address').fill('http://10.0.0.1/')
  world.expectComplaint(/422/)
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await dialog.getByText('This address may not be called').waitFor()
  await expect.poll(() => dialog.getByLabel('Address').getAttribute('aria-invalid')).toBe('true')
  await expectAccessible(page)
  await dialog.getByLabel('Address').fill(`http://${host()}/hook`)
  await dialog.getByLabel('run.completed').check()
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  const secret = await dialog.getByTestId('secret').innerText()
  expect(secret).toMatch(/^whsec_/)
  await expectAccessible(page)

  // The code that is shown does what it says.
  const code = await dialog.getByRole('group', { name: 'How the receiver checks' }).innerText()
  const { verify } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('link', { name: `http://${host()}/hook` }).click()
  await page.getByText('Nothing has been sent yet.').waitFor()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await said(page, 'The receiver accepted the test (HTTP 200)')
  const [{ request, body }] = got as [(typeof got)[number]]
  expect(verify(request.headers, body)).toBe(true)
  expect(verify(request.headers, `${body} `)).toBe(false)
  const { 'webhook-id': id, 'webhook-timestamp': time } = request.headers
  const key = Buffer.from(secret.slice(6), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')
  expect(request.headers['webhook-signature']).toBe(`v1,${signature}`)

  status = 500
  await world.server.echo('hooked', { name: 'Hooked' })
  await world.server.api('POST', '/api/tools/hooked/run', { input: {} })
  const deliveries = page.getByRole('region', { name: 'Deliveries' })
  const run = deliveries.getByRole('button', { name: 'run.completed' })
  await run.click({ timeout: 20_000 })
  status = 200
  const one = page.getByRole('dialog')
  await one.getByText('"tool"').first().waitFor()
  await one.getByText('thanks for nothing').waitFor()
  await expectAccessible(page)
  await one.getByRole('button', { name: 'Send again' }).click()
  await one.getByText('Delivered').waitFor()
  await page.keyboard.press('Escape')
  const told = got.filter(({ body }) => JSON.parse(body).type === 'run.completed')
  expect(new Set(told.map(({ request }) => request.headers['webhook-id'])).size).toBe(1)

  const enabled = page.getByRole('switch', { name: 'Enabled' })
  await enabled.click()
  await said(page, `The webhook to ${host()} is disabled`)
  await page.getByRole('button', { name: 'Undo' }).click()
  await said(page, `The webhook to ${host()} is enabled`)
  await expect.poll(() => enabled.getAttribute('aria-checked')).toBe('true')
  await enabled.click()
  await page.getByText('Disabled', { exact: true }).waitFor()
  await page.setViewportSize({ width: 390, height: 800 })
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await said(page, 'The webhook is deleted')
  await page.getByText('No webhooks yet').waitFor()
})
