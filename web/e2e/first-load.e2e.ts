import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'

import {
  expectAccessible,
  expectFocused,
  expectFocusIn,
  expectNoSidewaysScroll,
  useWorld,
  withoutNews,
} from './world'

const world = useWorld()

/** What a first visit may load before it can do anything. */
const MOST_BYTES = 160_000

const ADA = { email: 'ada@example.com', password: 'correct horse battery staple' }

beforeAll(async () => {
  await world.server.echo('e2e.kept', { name: 'Kept' })
  await world.server.api('POST', '/api/users', { ...ADA, display_name: 'Ada', role: 'member' })
})

async function signIn(page: Page) {
  await page.getByLabel('Email').fill(ADA.email)
  await page.getByLabel('Password').fill(ADA.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Chooses something in the menu at the top. The language decides what the menu is called. */
async function choose(page: Page, menu: string, item: string) {
  await page.getByRole('button', { name: menu }).click()
  await page.getByRole('menuitemcheckbox', { name: item }).click()
}

const read = (path: string) => fetch(world.server.url + path)

test('the scripts named in the page are few enough, and are kept for ever', async () => {
  const page = await read('/')
  expect(page.headers.get('cache-control')).toBe('no-store')
  const html = await page.text()
  const scripts = [...html.matchAll(/<script [^>]*src="([^"]+)"/g)]
  const preloads = [...html.matchAll(/<link rel="modulepreload"[^>]* href="([^"]+)"/g)]
  const styles = [...html.matchAll(/<link rel="stylesheet"[^>]* href="([^"]+)"/g)]
  expect([scripts.length, styles.length]).toEqual([2, 1])
  let bytes = 0
  for (const [, path = ''] of [...scripts, ...preloads, ...styles]) {
    const file = await read(path)
    expect(file.status, path).toBe(200)
    const keep = path === '/theme.js' ? 'no-cache' : 'public, max-age=31536000, immutable'
    expect(file.headers.get('cache-control'), path).toBe(keep)
    const content = Buffer.from(await file.arrayBuffer())
    if (path.endsWith('.js')) bytes += gzipSync(content).length
  }
  expect(bytes).toBeGreaterThan(50_000)
  expect(bytes).toBeLessThan(MOST_BYTES)
  expect((await read('/assets/no-such-file.js')).status).toBe(404)
})

test('nothing is loaded from another host', async () => {
  world.expectComplaint(/401/)
  const page = await world.stranger()
  const hosts = new Set<string>()
  page.on('request', (request) => hosts.add(new URL(request.url()).origin))
  await page.goto('/')
  await page.getByLabel('Email').waitFor()
  await signIn(page)
  await page.getByRole('link', { name: 'Kept' }).first().click()
  await page.getByLabel('Text').waitFor()
  expect([...hosts]).toEqual([world.server.url])
})

test('German is spoken once chosen, after a reload too', async () => {
  const page = await world.signedIn()
  await page.goto('/tools')
  await choose(page, 'Account', 'Deutsch')
  await page.getByRole('heading', { name: 'Werkzeuge', level: 1 }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Werkzeuge', level: 1 }).waitFor()
  await expect.poll(() => page.evaluate(() => document.documentElement.lang)).toBe('de')
  await page.goto('/tools/roi-calculator')
  await page.getByRole('button', { name: 'Ausführen', exact: true }).waitFor()
  await choose(page, 'Konto', 'English')
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
  // The choice is the account's, and the other tests are about browsers.
  await world.server.api('PATCH', '/api/me', { language: null })
})

test('a browser in German starts in German', async () => {
  world.expectComplaint(/401/)
  const page = await world.stranger()
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'language', { value: 'de-AT' })
  })
  await page.goto('/sign-in')
  await page.getByLabel('Passwort').waitFor()
})

test('the theme stays as chosen, after a reload too', async () => {
  const page = await world.signedIn({ theme: 'light' })
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  await page.goto('/tools')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const light = await ground()
  await choose(page, 'Account', 'Dark')
  await expect.poll(ground).not.toBe(light)
  const dark = await ground()
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await expect.poll(ground).toBe(dark)
  await choose(page, 'Account', 'System')
  await expect.poll(ground).toBe(light)
  // The system can change while the page is open.
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(ground).toBe(dark)
})

test('the title of the window says which page it is, in the language of the page', async () => {
  await world.server.echo('e2e.named', { name: 'Named' })
  const { run_id } = await world.server.api('POST', '/api/tools/e2e.named/run', { input: {} })
  const secret = { label: 'titled', type: 'api_key', payload: { api_key: 'k' } }
  const { id } = await world.server.api('POST', '/api/credentials', secret)
  const input_schema = { type: 'object', properties: {} }
  await world.server.echo('e2e.asks', { name: 'Asks', permission_level: 'write', input_schema })
  const asks = '/api/tools/e2e.asks/run'
  const agent = await world.server.agentKey()
  const { approval_id } = await world.server.api('POST', asks, { input: {} }, agent)
  const person = { name: 'Person', implementation_type: 'space', timeout_ms: 600_000, input_schema }
  await world.server.echo('e2e.person', person)
  const asked = { input: {}, wait_ms: 1 }
  const call = await world.server.api('POST', '/api/tools/e2e.person/run', asked)
  const remote = { name: 'remote', url: 'https://mcp.example.com/mcp' }
  const server = await world.server.api('POST', '/api/mcp-servers', remote)
  const hook = { url: 'https://hooks.example.com/secret', events: ['run.failed'] }
  const webhook = await world.server.api('POST', '/api/webhooks', hook)
  const titles = [
    ['/tools', 'Tools', 'Werkzeuge'],
    ['/tools/e2e.named', 'Named', 'Named'],
    ['/tools/nothing-here', 'No such tool', 'Kein solches Werkzeug'],
    ['/runs', 'Runs', 'Läufe'],
    [`/runs/${run_id}`, 'Run of Named', 'Lauf von Named'],
    ['/approvals', 'Approvals', 'Freigaben'],
    ['/approvals/answers', 'To answer', 'Zu beantworten'],
    ['/approvals/standing', 'Standing approvals', 'Dauerfreigaben'],
    ['/admin/tools', 'Manage tools', 'Werkzeuge verwalten'],
    ['/admin/tools/e2e.named/edit', 'Edit Named', 'Named bearbeiten'],
    ['/admin/tools/new', 'New tool', 'Neues Werkzeug'],
    ['/admin/credentials', 'Credentials', 'Zugangsdaten'],
    ['/admin/credentials/new', 'New credential', 'Neue Zugangsdaten'],
    [`/admin/credentials/${id}`, 'titled · Credentials', 'titled · Zugangsdaten'],
    ['/admin/mcp-servers', 'MCP servers', 'MCP-Server'],
    [`/admin/mcp-servers/${server.id}`, 'remote · MCP servers', 'remote · MCP-Server'],
    ['/admin/webhooks', 'Webhooks', 'Webhooks'],
    [
      `/admin/webhooks/${webhook.id}`,
      'hooks.example.com · Webhooks',
      'hooks.example.com · Webhooks',
    ],
    [`/approvals/${approval_id}`, 'Approval for Asks', 'Freigabe für Asks'],
    [`/approvals/answers/${call.pending_tool_call_id}`, 'Answer for Person', 'Antwort für Person'],
    ['/docs', 'Documentation', 'Dokumentation'],
    ['/docs/errors/NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND'],
    ['/docs/api', 'API reference', 'API-Referenz'],
    ['/nope', 'Page not found', 'Seite nicht gefunden'],
  ] as const
  world.expectComplaint(/404/)
  const page = await world.signedIn()
  for (const [path, english, german] of titles) {
    await page.goto(path)
    await expect.poll(() => page.title()).toBe(`${english} · Toolwright`)
    await page.evaluate(() => localStorage.setItem('language', 'de'))
    await page.reload()
    await expect.poll(() => page.title()).toBe(`${german} · Toolwright`)
    await page.evaluate(() => localStorage.setItem('language', 'en'))
  }
})

const NOWHERE = ['/admin/nonsense', '/tools/a/b/c', '/runs/1/2', '/nope', '/no/pe?q=1']

test.each(NOWHERE)('%s is nothing', async (path) => {
  world.expectComplaint(/404/)
  const page = await world.signedIn()
  await page.goto(path)
  await page.getByText('Page not found').waitFor()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  // It is one page, whatever led to it.
  if (path === NOWHERE[0]) await expectAccessible(page)
  await page.getByRole('link', { name: 'Go to the library' }).click()
  await page.waitForURL('**/tools')
})

test('a path that is no page is a page for browsers only', async () => {
  const html = 'text/html,application/xhtml+xml,*/*;q=0.8'
  const ask = async (path: string, accept: string, method = 'GET') => {
    const answer = await fetch(world.server.url + path, { method, headers: { accept } })
    return `${answer.status} ${answer.headers.get('content-type')?.split(';')[0]}`
  }
  expect(await ask('/nope', html)).toBe('404 text/html')
  expect(await ask('/nope', '*/*')).toBe('404 application/problem+json')
  expect(await ask('/nope', 'application/json, text/html;q=0.5')).toBe(
    '404 application/problem+json',
  )
  expect(await ask('/nope', html, 'POST')).toBe('404 application/problem+json')
  expect(await ask('/docs/nope', html)).toBe('404 text/html')
  expect(await ask('/docs/nope', '*/*')).toBe('404 application/problem+json')
  for (const path of ['/api/nope', '/assets/nope.js', '/icons/nope.svg', '/docs/nope.md']) {
    expect(await ask(path, html), path).toBe('404 application/problem+json')
  }
})

describe('a page whose files do not come', () => {
  const script = '**/assets/runs-page-*.js'

  test('can be tried again, and comes by itself once the server is back', async () => {
    world.expectComplaint(/ERR_FAILED|could not be loaded|dynamically imported/)
    const page = await world.signedIn()
    await page.goto('/tools')
    await page.getByRole('heading', { level: 1 }).waitFor()
    const isRoot = (url: URL) => url.pathname === '/'
    await page.route(script, (route) => route.abort())
    await page.route(isRoot, (route) => route.abort())
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('heading', { name: 'This page could not be loaded.' }).waitFor()
    await page.getByText('The server cannot be reached.').waitFor()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await expectAccessible(page)
    const again = page.getByRole('button', { name: 'Try again' })
    await again.click()
    await expect.poll(() => again.isEnabled()).toBe(true)

    // Nobody has to try a third time: the page comes by itself.
    await page.unroute(script)
    await page.unroute(isRoot)
    await page.evaluate(() => dispatchEvent(new Event('focus')))
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  })

  test('is loaded anew once when there is another version, and never in a loop', async () => {
    world.expectComplaint(/ERR_FAILED|could not be loaded|dynamically imported/)
    const page = await world.signedIn()
    await page.goto('/tools')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.route(script, (route) => route.abort())
    await page.route(
      (url) => url.pathname === '/',
      (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: '<script type="module" src="/assets/index-other.js"></script>',
        }),
    )
    let loads = 0
    page.on('request', (request) => {
      if (request.isNavigationRequest()) loads += 1
    })
    await page.getByRole('link', { name: 'Runs' }).click()
    await expect.poll(() => loads).toBe(1)
    await page.getByRole('heading', { name: 'This page could not be loaded.' }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(loads).toBe(1)
  })
})

describe('a part of a page whose files do not come', () => {
  test('leaves the page and what was typed, and can be tried again', async () => {
    world.expectComplaint(/ERR_FAILED|could not be loaded|dynamically imported/)
    const page = await world.signedIn()
    let away = true
    await page.route('**/assets/chart-*.js', (route) => (away ? route.abort() : route.continue()))
    await page.goto('/tools/roi-calculator')
    const investment = page.getByLabel(/^Initial investment/i)
    await investment.fill('120000')
    await page.getByLabel(/^Annual benefit/i).fill('68000')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const result = page.getByRole('region', { name: 'Result', exact: true })
    const part = result.getByRole('alert').filter({ hasText: 'This part of the page' })
    await part.first().waitFor()
    await expect.poll(() => investment.inputValue()).toMatch(/120.?000/)
    await result.getByText('Success').first().waitFor()
    await expectAccessible(page)

    away = false
    await part.first().getByRole('button', { name: 'Try again' }).click()
    await result
      .getByRole('img', { name: /cash flow/i })
      .locator('svg')
      .first()
      .waitFor()
    await expect.poll(() => investment.inputValue()).toMatch(/120.?000/)
  })

  test('leaves the editor usable', async () => {
    world.expectComplaint(/ERR_FAILED|could not be loaded|dynamically imported/)
    const page = await world.signedIn()
    let away = true
    await page.route('**/assets/http-*.js', (route) => (away ? route.abort() : route.continue()))
    await page.goto('/admin/tools/e2e.kept/edit?tab=execution')
    await page.getByRole('radio', { name: 'HTTP' }).click()
    const part = page.getByRole('alert').filter({ hasText: 'This part of the page' })
    await part.waitFor()
    await page.getByLabel(/^Timeout/).fill('1234')
    away = false
    await part.getByRole('button', { name: 'Try again' }).click()
    await page.getByLabel('Address').waitFor()
    await expect.poll(() => page.getByLabel(/^Timeout/).inputValue()).toBe('1234')
  })
})

test('signed out in one tab, a sign-in in another is enough to go on', async () => {
  world.expectComplaint(/401/)
  const page = await world.signedInAs(ADA.email, ADA.password)
  await withoutNews(page)
  await page.goto('/tools/e2e.kept')
  await page.getByLabel('Text').fill('typed before, too')
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Run', exact: true }).click()

  const dialog = page.getByRole('dialog', { name: 'Session expired' })
  const opened = page.context().waitForEvent('page')
  await dialog.getByRole('link', { name: 'Open sign-in in a new tab' }).click()
  const other = await opened
  await signIn(other)
  await other.waitForURL('**/tools')
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('typed before, too')
})

test('signed out in one tab, the other leads to the sign-in and back with what was typed', async () => {
  world.expectComplaint(/401/)
  const page = await world.stranger()
  await withoutNews(page)
  await page.goto('/tools/e2e.kept')
  await signIn(page)
  await page.getByLabel('Text').fill('typed before')

  const other = await page.context().newPage()
  await other.goto('/runs')
  await other.getByRole('button', { name: 'Account' }).click()
  await other.getByRole('menuitem', { name: 'Sign out' }).click()
  await other.waitForURL('**/sign-in')

  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await expectFocusIn(page.getByRole('dialog', { name: 'Session expired' }))
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: /^Sign in again/ }).click()
  await page.waitForURL('**/sign-in?next=**')
  await signIn(page)
  await page.waitForURL('**/tools/e2e.kept**')
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('typed before')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.waitForURL('**run=*')
  const { items } = await world.server.api('GET', '/api/runs?tool=e2e.kept')
  expect(items).toHaveLength(1)
})

test.each([1280, 390])('the account menu hides nothing of its page, %i wide', async (width) => {
  const page = await world.signedIn({ width })
  await page.goto('/tools')
  await page.getByRole('link', { name: 'ROI Calculator' }).first().waitFor()
  await page.getByRole('button', { name: /Account/ }).click()
  await page.getByRole('menu').waitFor()
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
  // What is named by a screen reader is still the page, and it closes by the keyboard.
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'detached' })
  await expectFocused(page.getByRole('button', { name: /Account/ }))
})

test.each(['en', 'de'])('nothing in the header wraps or overlaps, in %s', async (language) => {
  const input_schema = { type: 'object', properties: {} }
  await world.server.echo(`headed-${language}`, { permission_level: 'write', input_schema })
  const agent = await world.server.agentKey(`header-${language}`)
  await world.server.api('POST', `/api/tools/headed-${language}/run`, { input: {} }, agent)
  const page = await world.signedIn()
  await page.addInitScript((word) => localStorage.setItem('language', word), language)
  for (const width of [1024, 1100, 1280, 1440, 1536]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto('/tools')
    const bar = page.getByRole('banner')
    await bar.getByRole('link', { name: /waiting for you|wart/ }).waitFor()
    await page.evaluate(() => document.fonts.ready)
    // Each line of a text has a box of its own.
    const faults = await bar.evaluate((bar) => {
      const linesOf = (one: Element) => {
        const texts = [...one.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
        const boxes = texts.flatMap((text) => {
          const range = document.createRange()
          range.selectNode(text)
          return [...range.getClientRects()]
        })
        return new Set(boxes.map(({ bottom }) => Math.round(bottom))).size
      }
      const words = [...bar.querySelectorAll('span')].filter((one) => one.clientWidth > 2)
      const controls = [...bar.querySelectorAll('a, button')].filter((one) => one.clientWidth > 0)
      const boxes = controls.map((one) => one.getBoundingClientRect())
      const names = (all: Element[]) => all.map(({ textContent }) => textContent)
      return {
        wrapped: names(words.filter((one) => linesOf(one) > 1)),
        cut: names([...words, ...controls].filter((one) => one.scrollWidth > one.clientWidth + 1)),
        over: names(
          controls.filter((_, place) => {
            const [before, box] = [boxes[place - 1], boxes[place]]
            return before !== undefined && box !== undefined && box.left < before.right - 0.5
          }),
        ),
        beyond: names(controls.filter((_, place) => (boxes[place]?.right ?? 0) > innerWidth)),
      }
    })
    expect(faults, `${width}`).toEqual({ wrapped: [], cut: [], over: [], beyond: [] })
  }
})
