import { AxeBuilder } from '@axe-core/playwright'
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
}

class World {
  constructor(private readonly env: () => Environment = () => ({})) {}

  server!: Server
  private browser!: Browser
  private cookies?: Awaited<ReturnType<BrowserContext['storageState']>>
  private contexts: BrowserContext[] = []
  private complaints: string[] = []
  private expected: RegExp[] = []

  async start() {
    this.server = await Server.start(this.env())
    this.browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS })
  }

  /** A page of a person who has signed in by the one-time link; the first one uses it up. */
  async signedIn(look: Look = {}): Promise<Page> {
    if (!this.cookies) {
      const page = await this.stranger()
      await page.goto(this.server.link)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForURL('**/tools**')
      this.cookies = await page.context().storageState()
    }
    return this.open(look, this.cookies)
  }

  /** A page of somebody who has not. */
  stranger(look: Look = {}): Promise<Page> {
    return this.open(look)
  }

  private async open(look: Look, storageState?: World['cookies']): Promise<Page> {
    const context = await this.browser.newContext({
      baseURL: this.server.url,
      colorScheme: look.theme ?? 'light',
      viewport: { width: look.width ?? 1280, height: look.height ?? 900 },
      locale: 'en-GB',
      permissions: ['clipboard-read', 'clipboard-write'],
      reducedMotion: 'reduce',
      storageState,
    })
    // A busy machine is slow, not wrong.
    context.setDefaultTimeout(60_000)
    this.contexts.push(context)
    const page = await context.newPage()
    page.on('pageerror', (error) => this.complaints.push(`error: ${error.message}`))
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(`console: ${message.text()}`)
    })
    return page
  }

  /** Lets the test go on although the console says this, such as that a request was refused. */
  expectComplaint(pattern: RegExp) {
    this.expected.push(pattern)
  }

  async afterTest() {
    const complaints = this.complaints.filter(
      (text) => !this.expected.some((known) => known.test(text)),
    )
    this.complaints = []
    this.expected = []
    await Promise.all(this.contexts.map((context) => context.close()))
    this.contexts = []
    expect(complaints).toEqual([])
  }

  async end() {
    await this.browser?.close()
    await this.server?.end()
  }
}

/** Everyone can use the page as it stands now, as far as axe can tell, in both themes. */
export async function expectAccessible(page: Page) {
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    await page.evaluate(
      (dark) => document.documentElement.classList.toggle('dark', dark),
      theme === 'dark',
    )
    // No page here has a frame of another site, so axe needs no window of its own to put its results together.
    const axe = new AxeBuilder({ page }).setLegacyMode(true)
    // The themes differ in their colours, and in nothing else.
    if (theme === 'dark') axe.withRules('color-contrast')
    // What people see is what they say to a program that listens to them.
    else axe.options({ rules: { 'label-content-name-mismatch': { enabled: true } } })
    const { violations } = await axe.analyze()
    const told = violations.map(
      ({ id, nodes }) => `${theme} ${id}: ${nodes.map((node) => node.html).join(' | ')}`,
    )
    expect(told).toEqual([])
  }
}

/** What stands behind a name among things to be read. */
export function readOf(box: Page | Locator, name: string): Locator {
  return box.getByText(name, { exact: true }).and(box.locator('dt')).locator('+ dd')
}

/** The page does not scroll sideways. */
export async function expectNoSidewaysScroll(page: Page) {
  const [content, window] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ])
  expect(content).toBeLessThanOrEqual(window ?? 0)
}
