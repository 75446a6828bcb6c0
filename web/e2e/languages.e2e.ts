import type { Page } from 'playwright-core'

import { expectAccessible, readOf, useWorld } from './world'

const world = useWorld()

/** What people read of a tool, in German; the original is English. */
const GERMAN = {
  name: 'Overtime',
  description: 'Books overtime.',
  i18n: { de: { name: 'Überstunden', description: 'Bucht Überstunden.' } },
  permission_level: 'write',
  input_schema: {
    type: 'object',
    properties: {
      hours: {
        type: 'number',
        title: 'Hours',
        'x-i18n': { de: { title: 'Stundenzahl', description: 'Ganze und halbe Stunden.' } },
      },
      kind: {
        type: 'string',
        title: 'Kind',
        enum: ['paid', 'free'],
        'x-i18n': { de: { title: 'Art', 'x-enum-labels': ['Bezahlt', 'Freizeit'] } },
      },
    },
    required: ['hours'],
  },
} as const

beforeAll(async () => {
  await world.server.echo('overtime', GERMAN)
})

afterEach(() => world.server.api('PATCH', '/api/me', { language: null }))

const german = () => world.server.api('PATCH', '/api/me', { language: 'de' })

const run = (page: Page) => page.getByRole('button', { name: 'Ausführen', exact: true }).click()

test('the library speaks the language of the person, else that of the browser', async () => {
  const page = await world.signedIn()
  await page.goto('/tools')
  await page.getByRole('link', { name: 'Overtime' }).first().waitFor()
  await german()
  await page.reload()
  await page.getByRole('link', { name: 'Überstunden' }).first().waitFor()
  await page.getByText('Bucht Überstunden.').first().waitFor()
  await page.getByRole('link', { name: 'ROI-Rechner' }).first().waitFor()
  await expectAccessible(page)
  await world.server.api('PATCH', '/api/me', { language: null })
  await page.reload()
  await page.getByRole('link', { name: 'Overtime' }).first().waitFor()

  const other = await world.signedIn({ locale: 'de-DE' })
  await other.goto('/tools')
  await other.getByRole('link', { name: 'Überstunden' }).first().waitFor()
  await world.server.api('PATCH', '/api/me', { language: 'en' })
  await other.reload()
  await other.getByRole('link', { name: 'Overtime' }).first().waitFor()
})

test('a choice in the menu is kept for the person, in every browser', async () => {
  const page = await world.signedIn()
  await page.goto('/tools/overtime')
  await page.getByLabel('Hours').waitFor()
  await page.getByRole('button', { name: /Account/ }).click()
  await page.getByRole('menuitemcheckbox', { name: 'Deutsch' }).click()
  await page.getByLabel('Stundenzahl').waitFor()
  expect((await world.server.api('GET', '/api/me')).language).toBe('de')
  const other = await world.signedIn()
  await other.goto('/tools/overtime')
  await other.getByLabel('Stundenzahl').waitFor()
})

test('a tool of the program is German from its form to its result', async () => {
  await german()
  const page = await world.signedIn()
  await page.goto('/tools/roi-calculator')
  await page.getByRole('heading', { name: 'ROI-Rechner', level: 1 }).waitFor()
  await page.getByText('Was einmalig vor dem ersten Jahr gezahlt wird.').waitFor()
  await page.getByLabel('Anfangsinvestition').fill('10.000,50')
  await page.getByLabel('Jährlicher Nutzen').fill('7000')
  await run(page)
  await page.getByRole('heading', { name: 'Jahr für Jahr' }).waitFor()
  await expect.poll(() => readOf(page, 'Gesamtkosten').textContent()).toBe('10.000,50\u00a0$')
  await page.getByText('Kapitalwert', { exact: true }).waitFor()
  await page
    .getByRole('button', { name: /Kumulierter Cashflow/ })
    .first()
    .waitFor()
  // One way to write thousands on the axis, as in the table.
  const axis = page.locator('svg text').filter({ hasText: /^-?\d[\d.]*$/ })
  await expect.poll(async () => (await axis.allTextContents()).join(' ')).toMatch(/-\d{1,2}\.000/)
  expect((await axis.allTextContents()).filter((text) => /\d{4}/.test(text))).toEqual([])
  // What the tool says in its own words stands apart.
  const own = page.getByText('Zusammenfassung des Werkzeugs, wie Agenten sie lesen')
  await own.waitFor()
  expect(await page.getByText(/^NPV/).first().isVisible()).toBe(false)
  await own.click()
  await page.getByText(/^NPV/).first().waitFor()
  await expectAccessible(page)
})

test('an approval and its run are in the language of who decides', async () => {
  await german()
  const agent = await world.server.agentKey()
  const call = { input: { hours: 1200.5, kind: 'paid' } }
  const asked = await world.server.api('POST', '/api/tools/overtime/run', call, agent)
  const page = await world.signedIn()
  await page.goto(`/approvals/${asked.approval_id}`)
  await page
    .getByRole('heading', { name: /Überstunden/ })
    .first()
    .waitFor()
  await expect.poll(() => readOf(page, 'Stundenzahl').textContent()).toBe('1200,5')
  await expect.poll(() => readOf(page, 'Art').textContent()).toBe('Bezahlt')
  await page.getByRole('button', { name: 'Bearbeiten' }).click()
  await page.getByLabel('Stundenzahl').fill('1.000,25')
  await page.getByRole('button', { name: 'Änderungen prüfen' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('row', { name: /Stundenzahl/ }).waitFor()
  await dialog.getByRole('button', { name: /freigeben/i }).click()
  const done = async () => await world.server.api('GET', `/api/runs/${asked.run_id}`)
  await expect.poll(async () => (await done()).status).toBe('success')
  expect((await done()).input.hours).toBe(1000.25)
  await page.goto(`/runs/${asked.run_id}`)
  await expect.poll(() => page.title()).toContain('Überstunden')
  await expect.poll(() => readOf(page, 'Stundenzahl').first().textContent()).toBe('1000,25')
})

test('no name in the navigation of a phone is cut off', async () => {
  await german()
  const page = await world.signedIn({ width: 375, height: 700 })
  await page.goto('/tools')
  const words = page.getByRole('navigation').locator('a span.truncate')
  await words.filter({ hasText: 'Zugänge' }).waitFor()
  const cut = await words.evaluateAll((found) =>
    found.filter((word) => word.clientWidth < word.scrollWidth).map((word) => word.textContent),
  )
  expect(cut).toEqual([])
})

test('why a call waits is said in German, on the page of its tool too', async () => {
  await german()
  const setting = (name: string, value: unknown) =>
    world.server.api('PATCH', '/api/tenants/current', { settings: { [name]: value } })
  await setting('forbid_self_approval', true)
  const agent = await world.server.agentKey()
  const run = { input: { hours: 2 } }
  const parked = await world.server.api('POST', '/api/tools/overtime/run', run, agent)
  const page = await world.signedIn()
  await page.goto(`/tools/overtime?run=${parked.run_id}`)
  const why =
    'Das Werkzeug ändert Daten; darum muss ein Mensch jeden Aufruf eines Agenten freigeben.'
  await page.getByText(`Grund: ${why}`).waitFor()
  await page.goto('/approvals')
  await page.getByText(why).waitFor()
  await page.goto(`/approvals/${parked.approval_id}`)
  await page.getByText(why).waitFor()
  world.expectComplaint(/403/)
  await page.getByRole('button', { name: 'Freigeben', exact: true }).click()
  await page.getByText('Wem ein Agent gehört, der kann nicht').waitFor()
  expect(await page.getByText('owner of an agent').count()).toBe(0)
  await expectAccessible(page)
  await setting('forbid_self_approval', null)
})

test('who can use a tool is said in German, check by check', async () => {
  await german()
  await world.server.agentKey('drawer')
  const page = await world.signedIn()
  await page.goto('/admin/tools?open=overtime')
  const drawer = page.getByRole('dialog')
  await drawer.getByText('Der eigene Aufruf eines Menschen braucht keine Freigabe.').waitFor()
  await drawer.getByText('Alle Prüfungen').click()
  const checks = drawer.getByRole('listitem').filter({ has: page.getByLabel('bestanden') })
  await checks.getByText('Die Rolle darf Werkzeuge ausführen').waitFor()
  for (const text of await checks.allInnerTexts()) {
    expect(text).not.toMatch(/\b(it|is|this|tool|tenant|nobody)\b/)
  }
  await expectAccessible(page)
  const key = drawer.getByRole('option').filter({ hasText: '(drawer)' })
  const subject = await key.getAttribute('value')
  await drawer.getByLabel('Für').selectOption(subject)
  await drawer.getByText('Das Werkzeug ändert Daten').waitFor()
  await world.server.api('PATCH', '/api/tools/overtime', { is_active: false })
  await page.reload()
  await drawer.getByText('Es ist nicht aktiv').first().waitFor()
  await world.server.api('PATCH', '/api/tools/overtime', { is_active: true })
})
