import type { Page } from 'playwright-core'

import { useWorld } from './world'

const world = useWorld()

/** What people with a slow network get before they can do anything, heads of answers included. */
const LIBRARY = { requests: 25, bytes: 160_000 }
/** What a tool may add to that. */
const TOOL_BYTES = 120_000

interface Load {
  requests: number
  bytes: number
}

/** What comes over the wire, heads included, until the page is there and quiet. */
async function loaded(page: Page, path: string, isThere: () => Promise<unknown>): Promise<Load> {
  const wire = await page.context().newCDPSession(page)
  await wire.send('Network.enable')
  const load = { requests: 0, bytes: 0 }
  wire.on('Network.loadingFinished', ({ encodedDataLength }) => {
    // What the browser has already comes without a byte.
    if (encodedDataLength === 0) return
    load.requests += 1
    load.bytes += encodedDataLength
  })
  await page.goto(path)
  await isThere()
  await page.waitForLoadState('networkidle')
  await wire.detach()
  return load
}

test('the library is light on its first load, and a tool adds little', async () => {
  const page = await world.signedIn()
  const library = await loaded(page, '/tools', () =>
    page.getByRole('link', { name: 'ROI Calculator' }).waitFor(),
  )
  expect(library.bytes).toBeGreaterThan(50_000)
  expect(library.bytes).toBeLessThanOrEqual(LIBRARY.bytes)
  expect(library.requests).toBeLessThanOrEqual(LIBRARY.requests)
  const tool = await loaded(page, '/tools/roi-calculator', () =>
    page.getByRole('button', { name: 'Run', exact: true }).waitFor(),
  )
  expect(tool.bytes).toBeLessThanOrEqual(TOOL_BYTES)
})

test('answers of the API are compressed for those who take it', async () => {
  const read = (encoding: string) =>
    fetch(`${world.server.url}/api/tools`, {
      headers: { authorization: `Bearer ${world.server.key}`, 'accept-encoding': encoding },
    })
  expect((await read('gzip')).headers.get('content-encoding')).toBe('gzip')
  expect((await read('identity')).headers.get('content-encoding')).toBeNull()
})
