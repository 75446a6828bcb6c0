import { AxeBuilder } from '@axe-core/playwright'
import type axe from 'axe-core'
import type { AxeResults, RunOptions } from 'axe-core'
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'

import { type Environment, Server } from './server'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * A server and a browser for the tests of one file. Anything a page complains about, a violation of the
 * content security policy or an error on the console, fails the test it happened in.
 *
 *     const world = useWorld()
 *     test('…', async () => { const page = await world.signedIn() … })
 *
 * What the server is to be told by its environment may be known only when it starts.
 */
export function useWorld(env?: () => Environment) {
  const world = new World(env)
  beforeAll(() => world.start())
  afterEach(() => world.afterTest())
  afterAll(() => world.end())
  return world
}

export interface Look {
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  /** The language that the browser asks for. */
  locale?: string
}

type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>

class World {
  constructor(private readonly env: () => Environment = () => ({})) {}

  server!: Server
  private browser!: Browser
  /** The admin who came by the link, and everybody who came by a password, by their address. */
  private readonly people = new Map<string, SignedIn>()
  private contexts: BrowserContext[] = []
  private complaints: string[] = []
  private expected: RegExp[] = []

  async start() {
    const options = { executablePath: '/usr/bin/chromium', args: FLAGS, timeout: 120_000 }
    const started = await Promise.all([Server.start(this.env()), chromium.launch(options)])
    this.server = started[0]
    this.browser = started[1]
  }

  /** A page of the admin, who has signed in by the one-time link; the first one uses it up. */
  async signedIn(look: Look = {}): Promise<Page> {
    const token = new URL(this.server.link).searchParams.get('token')
    return this.open(look, await this.person('', '/api/auth/link', { token }))
  }

  /** A page of somebody who has signed in by password. */
  async signedInAs(email: string, password: string, look: Look = {}): Promise<Page> {
    return this.open(look, await this.person(email, '/api/auth/login', { email, password }))
  }

  /** A page of somebody who has not. */
  stranger(look: Look = {}): Promise<Page> {
    return this.open(look)
  }

  private async person(name: string, path: string, data: unknown): Promise<SignedIn> {
    const known = this.people.get(name)
    if (known) return known
    const context = await this.browser.newContext()
    const origin = this.server.url
    const answer = await context.request.post(origin + path, { data, headers: { origin } })
    expect(answer.status(), await answer.text()).toBeLessThan(300)
    const state = await context.storageState()
    await context.close()
    this.people.set(name, state)
    return state
  }

  private async open(look: Look, storageState?: SignedIn): Promise<Page> {
    const context = await this.browser.newContext({
      baseURL: this.server.url,
      colorScheme: look.theme ?? 'light',
      viewport: { width: look.width ?? 1280, height: look.height ?? 900 },
      locale: look.locale ?? 'en-GB',
      permissions: ['clipboard-read', 'clipboard-write'],
      reducedMotion: 'reduce',
      storageState,
    })
    // A busy machine is slow, not wrong.
    context.setDefaultTimeout(60_000)
    await context.addInitScript(noteMessages)
    this.contexts.push(context)
    // What a page says while it is closed belongs to the test that opened it.
    const { complaints } = this
    context.on('weberror', (error) => complaints.push(`error: ${error.error().message}`))
    context.on('console', (message) => {
      if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
    })
    return context.newPage()
  }

  /** Lets the test go on although the console says this, such as that a request was refused. */
  expectComplaint(pattern: RegExp) {
    this.expected.push(pattern)
  }

  async afterTest() {
    const { complaints, expected, contexts } = this
    const told = complaints.filter((text) => !expected.some((known) => known.test(text)))
    this.complaints = []
    this.expected = []
    this.contexts = []
    await Promise.all(contexts.map((context) => context.close()))
    const warnings = this.server.warnings().map((line) => `server: ${line}`)
    expect(told.length === 0 ? [] : [...told, ...warnings]).toEqual([])
  }

  async end() {
    await this.browser?.close()
    await this.server?.end()
  }
}

declare global {
  interface Window {
    /** What the page has said in its corner and no test has asked for yet. */
    saidInCorner: string[]
    axe: typeof axe
  }
}

/** Runs in the page. Messages go after some seconds, and a slow machine may look later. */
function noteMessages() {
  window.saidInCorner = []
  const note = (node: Node) => {
    const isMessage = node instanceof HTMLLIElement && node.parentElement?.matches('ul[aria-live]')
    if (isMessage) window.saidInCorner.push(node.textContent ?? '')
  }
  const observer = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) addedNodes.forEach(note)
  })
  observer.observe(document, { childList: true, subtree: true })
}

/** Waits until the page has said this in its corner, once more than the last time it was asked for. */
export async function said(page: Page, text: string) {
  const take = (text: string) => {
    const place = window.saidInCorner.findIndex((message) => message.includes(text))
    if (place < 0) return window.saidInCorner
    window.saidInCorner.splice(0, place + 1)
    return 'said'
  }
  await expect.poll(() => page.evaluate(take, text), { message: text }).toBe('said')
}

/** Goes through with a publication that nothing speaks against. */
export async function publishIt(page: Page, name: string) {
  const dialog = page.getByRole('dialog', { name: `Publish ${name}` })
  await dialog.getByRole('button', { name: /^Publish \d/ }).click()
  await said(page, 'is published')
  await dialog.waitFor({ state: 'detached' })
}

/**
 * The page finds nothing new when it looks for news, as it does every few seconds by itself. It must not be the first to
 * hear that a sign-in has run out: its question would come before what the person is about to do. To be said before the
 * page is opened.
 */
export async function withoutNews(page: Page) {
  const none = { items: [], next_cursor: null, total: 0 }
  await page.route(/\/api\/(approvals|pending-calls)(\?|$)/, (route) =>
    route.fulfill({ json: none }),
  )
}

/** Waits until this has the focus: it may get it only after what was clicked is drawn. */
export async function expectFocused(control: Locator) {
  await expect.poll(() => control.evaluate((it) => it === document.activeElement)).toBe(true)
}

/** Waits until the focus is in a dialog: only then does it hear keys. */
export async function expectFocusIn(dialog: Locator) {
  await dialog.locator(':focus').first().waitFor({ state: 'attached' })
}

/** Waits until everything that happened to the page is drawn. */
export async function drawn(page: Page) {
  const twoFrames = () =>
    new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))
  await page.evaluate(twoFrames)
}

/**
 * Counts the seconds that a page is at work from now on. Unlike those on the clock they do not tell how long others had the
 * processor.
 */
export async function countWork(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const soFar = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
  }
  const before = await soFar()
  return async () => (await soFar()) - before
}

/** Waits until nothing on the page holds the place of what is still to come. */
export async function allThere(page: Page) {
  await expect.poll(() => page.locator('.animate-pulse').count()).toBe(0)
}

const AXE: RunOptions = {
  // What is right need not be told in full, and no rule that is on reads style sheets.
  resultTypes: ['violations'],
  preload: { assets: ['media'] },
  // What people see is what they say to a program that listens to them.
  rules: { 'label-content-name-mismatch': { enabled: true } },
}

/** Everyone can use the page as it stands now, as far as axe can tell, in both themes. */
export async function expectAccessible(page: Page) {
  await showTheme(page, 'light')
  // No page here has a frame of another site, so axe needs no window of its own to put its results together.
  const light = await new AxeBuilder({ page }).setLegacyMode(true).options(AXE).analyze()
  expect(told(light)).toEqual([])
  // The themes differ in their colours, and in nothing else. The page has axe by now.
  await showTheme(page, 'dark')
  const colours: RunOptions = { ...AXE, runOnly: ['color-contrast'] }
  const dark = await page.evaluate((options) => window.axe.run(document, options), colours)
  expect(told(dark)).toEqual([])
}

async function showTheme(page: Page, theme: 'light' | 'dark') {
  await page.emulateMedia({ colorScheme: theme })
  await page.evaluate(
    (dark) => document.documentElement.classList.toggle('dark', dark),
    theme === 'dark',
  )
  // Charts are drawn anew for a theme.
  await drawn(page)
}

function told({ violations }: AxeResults): string[] {
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`)
}

/** What stands behind a name among things to be read. */
export function readOf(box: Page | Locator, name: string): Locator {
  return box.getByText(name, { exact: true }).and(box.locator('dt')).locator('+ dd')
}

/** The page does not scroll sideways. */
export async function expectNoSidewaysScroll(page: Page) {
  const beyond = () => {
    const { scrollWidth, clientWidth } = document.documentElement
    return scrollWidth - clientWidth
  }
  await expect.poll(() => page.evaluate(beyond)).toBeLessThanOrEqual(0)
}
