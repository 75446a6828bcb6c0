import type { Page } from 'playwright-core'

import {
  drawn,
  expectAccessible,
  expectFocused,
  expectNoSidewaysScroll,
  useWorld,
  withoutNews,
} from './world'

const world = useWorld()

const result = (page: Page) => page.getByRole('region', { name: 'Result', exact: true })
const runButton = (page: Page) => page.getByRole('button', { name: 'Run', exact: true })

async function succeeds(page: Page) {
  await result(page).getByText('Success', { exact: true }).first().waitFor()
}

const copied = (page: Page) => page.evaluate(() => navigator.clipboard.readText())

async function runsOf(slug: string): Promise<{ run_id: string; input: unknown }[]> {
  return (await world.server.api('GET', `/api/runs?tool=${slug}`)).items
}

test('a newcomer gets from the link to charts', async () => {
  const page = await world.signedIn()
  await page.goto('/tools')
  await page.getByRole('searchbox').fill('roi')
  await page.waitForURL('**/tools?q=roi')
  await page.getByRole('link', { name: 'ROI Calculator' }).click()
  await page.getByRole('heading', { name: 'ROI Calculator', level: 1 }).waitFor()
  await expect.poll(() => page.title()).toBe('ROI Calculator · Toolwright')

  await page.getByLabel(/^Initial investment/).fill('100000')
  await page.getByLabel(/^Annual benefit/).fill('50000')
  await page.getByLabel(/^Currency/).fill('EUR')
  await runButton(page).click()
  await succeeds(page)
  await expectFocused(runButton(page))
  await result(page).getByText('Net present value', { exact: true }).waitFor()
  const chart = result(page).getByRole('img', { name: /^Cumulative cash flow/ })
  await chart.locator('svg text').first().waitFor()
  await expectAccessible(page)

  const picture = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save Cumulative cash flow as SVG' }).click()
  expect((await picture).suggestedFilename()).toBe('roi-calculator-cumulative-cash-flow.svg')

  const section = page.getByRole('group', { name: 'Cumulative cash flow', exact: true }).first()
  await section.getByRole('button', { name: /^As a table/ }).click()
  await section.getByRole('columnheader', { name: 'Year' }).waitFor()
  const saved = page.waitForEvent('download')
  await section.getByRole('button', { name: 'Save Cumulative cash flow as CSV' }).click()
  expect((await saved).suggestedFilename()).toBe('roi-calculator-cumulative-cash-flow.csv')
})

test('the button is in sight however long the form is, and Ctrl with Enter does the same', async () => {
  for (const width of [1280, 390]) {
    const page = await world.signedIn({ width, height: 700 })
    await page.goto('/tools/priority-matrix')
    const inSight = async () => {
      const { y = 0, height = 0 } = (await runButton(page).boundingBox()) ?? {}
      return y > 0 && y + height <= 700
    }
    await expect.poll(inSight).toBe(true)
    await page.getByRole('button', { name: /^Example 1/ }).click()
    await page.getByRole('button', { name: 'JSON' }).click()
    const editor = page.getByRole('textbox', { name: 'Input as JSON' })
    await editor.getByText('{').first().waitFor()
    await drawn(page)
    const before = await editor.innerText()
    await editor.press('Control+Enter')
    await succeeds(page)
    await expect.poll(() => editor.innerText()).toBe(before)
    await expectNoSidewaysScroll(page)
    await page.evaluate(() => scrollTo(0, 0))
    await expect.poll(inSight).toBe(true)
  }
})

test('an amount is in the currency that the form names', async () => {
  const page = await world.signedIn()
  await page.goto('/tools/roi-calculator')
  const amount = page.getByLabel(/^Initial investment/)
  const unit = () =>
    amount.evaluate((box) => {
      const ids = box.getAttribute('aria-describedby')?.split(' ') ?? []
      return ids.map((id) => document.getElementById(id)?.textContent).join(' ')
    })
  await expect.poll(unit).toContain('USD')
  await page.getByLabel(/^Currency/).fill('EUR')
  await expect.poll(unit).toContain('EUR')
  expect(await page.getByText('currency', { exact: true }).count()).toBe(0)
})

test('a result says when the form holds something else than it was asked with', async () => {
  const page = await world.signedIn()
  await page.goto('/tools/roi-calculator')
  const note = result(page).getByText('The inputs have changed since this result.')
  await page.getByLabel(/^Initial investment/).fill('5000')
  await page.getByLabel(/^Annual benefit/).fill('4000')
  await page.getByLabel(/^Annual benefit/).press('Control+Enter')
  await succeeds(page)
  await expect.poll(() => note.count()).toBe(0)
  await page.getByLabel(/^Initial investment/).fill('1')
  await note.waitFor()
  await expectAccessible(page)
  await page.getByLabel(/^Initial investment/).fill('5000')
  await note.waitFor({ state: 'detached' })
  // So it is when the run is opened by its address.
  await page.reload()
  await succeeds(page)
  await expect.poll(() => page.getByLabel(/^Initial investment/).inputValue()).toMatch(/^5.?000$/)
  await expect.poll(() => note.count()).toBe(0)
  await page.getByRole('button', { name: /^Example 1/ }).click()
  await note.waitFor()
})

test('every shipped tool shows every section of its first example', async () => {
  const page = await world.signedIn()
  const { items } = await world.server.api('GET', '/api/tools?origin=code')
  const shipped = items.filter((tool: { category: string }) => tool.category === 'analysis')
  expect(shipped).toHaveLength(8)
  for (const { slug, output_sections } of shipped) {
    await page.goto(`/tools/${slug}`)
    await page.getByRole('button', { name: /^Example 1/ }).click()
    await runButton(page).click()
    await succeeds(page)
    for (const { label, type } of output_sections) {
      const section = result(page).getByRole('group', { name: label, exact: true }).first()
      const shown = {
        summary: 'dl dd',
        table: 'tbody td',
        chart: '[role=img] svg text',
        radar: '[role=img] svg text',
        ranking: 'ol li',
      }[type as string]
      await section
        .locator(shown ?? 'never')
        .first()
        .waitFor()
    }
  }
})

test('columns that have no room are reached by keyboard and by wheel', async () => {
  const page = await world.signedIn({ width: 390 })
  await page.goto('/tools/roi-calculator')
  await page.getByRole('button', { name: 'Example 1', exact: true }).click()
  await runButton(page).click()
  await succeeds(page)
  const table = result(page).getByRole('region', { name: 'Year-by-Year' })
  const scrolled = () => table.evaluate((box) => box.scrollLeft)
  const edges = () =>
    table.evaluate((box) =>
      [...(box.parentElement?.querySelectorAll<HTMLElement>('[data-edge]') ?? [])].map(
        ({ dataset }) => dataset.edge,
      ),
    )
  await expect.poll(edges).toContain('right')
  // A shadow and no slab: what stands under it can be read.
  const shadow = await table.evaluate((box) => {
    const edge = box.parentElement?.querySelector('[data-edge=right]')
    return edge && { width: edge.clientWidth, colours: getComputedStyle(edge).backgroundImage }
  })
  expect(shadow?.width).toBeLessThan(16)
  expect(shadow?.colours).toMatch(/0\.12/)
  await table.focus()
  await page.keyboard.press('ArrowRight')
  await expect.poll(scrolled).toBeGreaterThan(0)
  await expect.poll(edges).toContain('left')
  // Again, where the page still moved under the mouse.
  const wheel = async () => {
    await table.hover()
    await page.mouse.wheel(2_000, 0)
    return edges()
  }
  await expect.poll(wheel).not.toContain('right')
})

test('a tool without sections shows its output by its shape, on a phone too', async () => {
  const page = await world.signedIn({ width: 390 })
  await page.goto('/tools/datetime_utils')
  await page.getByRole('button', { name: /^Example 5/ }).click()
  await runButton(page).click()
  await succeeds(page)
  await result(page).getByText('Calendar', { exact: true }).waitFor()
  await expectNoSidewaysScroll(page)
  await result(page).getByRole('button', { name: 'Raw JSON' }).click()
  await result(page).getByText('"operation": "diff"').waitFor()
  await expectAccessible(page)
})

test('a double click runs once, and the address names the run', async () => {
  await world.server.echo('e2e.once')
  const page = await world.signedIn()
  await page.goto('/tools/e2e.once?input={"text":"hello"}')
  // As slow as on a slow machine: the run is over before the second half comes.
  await runButton(page).dblclick({ delay: 700 })
  await succeeds(page)
  const runs = await runsOf('e2e.once')
  expect(runs.map(({ input }) => input)).toEqual([{ text: 'hello' }])
  await page.waitForURL(`**/tools/e2e.once?run=${runs[0]?.run_id}`)
  await page.reload()
  await succeeds(page)
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('hello')
})

test('what the server refuses is told at the field', async () => {
  await world.server.echo('e2e.refused', {
    input_schema: {
      type: 'object',
      properties: { text: { type: 'string', pattern: '^(ab)+$' } },
      required: ['text'],
    },
  })
  world.expectComplaint(/422/)
  const page = await world.signedIn()
  await page.route('**/api/tools/e2e.refused/run', (route) =>
    // The page checks most of it itself, so the server is sent something else.
    route.continue({ postData: '{"input":{"text":"c"}}' }),
  )
  await page.goto('/tools/e2e.refused')
  await page.getByLabel(/^Text/).fill('ab')
  await runButton(page).click()
  await result(page).getByRole('alert').waitFor()
  await expect.poll(() => page.getByLabel(/^Text/).getAttribute('aria-invalid')).toBe('true')
  await expect.poll(() => page.getByLabel(/^Text/).inputValue()).toBe('ab')
})

test('a run that waits says so, goes on when it is decided, and can be cancelled', async () => {
  await world.server.echo('e2e.parked', { permission_level: 'write' })
  const agent = await world.server.agentKey()
  const park = (text: string) =>
    world.server.api('POST', '/api/tools/e2e.parked/run', { input: { text }, wait_ms: 1 }, agent)
  const first = await park('one')
  const page = await world.signedIn()
  await page.goto(`/tools/e2e.parked?run=${first.run_id}`)
  await result(page).getByText('Needs approval', { exact: true }).first().waitFor()
  const link = result(page).getByRole('link', { name: 'Go to the approval' })
  await expect.poll(() => link.getAttribute('href')).toBe(`/approvals/${first.approval_id}`)
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('one')
  await expectAccessible(page)
  await world.server.api('POST', `/api/approvals/${first.approval_id}/approve`, {})
  await succeeds(page)

  const second = await park('two')
  await page.goto(`/tools/e2e.parked?run=${second.run_id}`)
  await result(page).getByRole('button', { name: 'Cancel' }).click()
  await result(page).getByText('Cancelled', { exact: true }).first().waitFor()
})

test('a restart of the server loses neither the input nor the run', async () => {
  await world.server.echo('e2e.restart', { permission_level: 'write' })
  const agent = await world.server.agentKey('restarter')
  const page = await world.signedIn()
  world.expectComplaint(/ERR_|Failed to load/)

  await page.goto('/tools/e2e.restart')
  await page.getByLabel('Text').fill('kept')
  await world.server.down()
  await runButton(page).click()
  await result(page)
    .getByText(/cannot be reached/)
    .waitFor()
  await world.server.up()
  await succeeds(page)
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('kept')
  expect(await runsOf('e2e.restart')).toHaveLength(1)

  const parked = await world.server.api(
    'POST',
    '/api/tools/e2e.restart/run',
    { input: { text: 'parked' }, wait_ms: 1 },
    agent,
  )
  await page.goto(`/tools/e2e.restart?run=${parked.run_id}`)
  await result(page).getByText('Needs approval', { exact: true }).first().waitFor()
  await world.server.down()
  await result(page)
    .getByText(/cannot be reached/)
    .waitFor()
  await world.server.up()
  await world.server.api('POST', `/api/approvals/${parked.approval_id}/approve`, {})
  await succeeds(page)
})

test('a link carries the input, and the history brings an old one back', async () => {
  await world.server.echo('e2e.linked')
  const page = await world.signedIn()
  await page.goto('/tools/e2e.linked')
  await page.getByLabel('Text').fill('a & b?')
  await page.getByRole('button', { name: 'Copy link' }).click()
  await expect.poll(() => copied(page)).toContain('/tools/e2e.linked')
  await page.goto(await copied(page))
  await page.getByLabel('Text').waitFor()
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('a & b?')
  await runButton(page).click()
  await succeeds(page)

  await page.getByLabel('Text').fill('other')
  await runButton(page).click()
  await result(page).getByText('other', { exact: true }).waitFor()
  const history = page.getByRole('region', { name: 'Recent runs' })
  await history.getByRole('listitem').nth(1).waitFor()
  await history.getByRole('link', { name: 'Re-run with changes' }).last().click()
  await result(page).getByText('a & b?', { exact: true }).waitFor()
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('a & b?')
})

test('a link that cannot fill the form says why', async () => {
  await world.server.echo('e2e.broken')
  const page = await world.signedIn()
  const told = (words: string) => page.getByRole('alert').filter({ hasText: words }).waitFor()
  await page.goto('/tools/e2e.broken?input=nonsense{')
  await told('its input is not JSON')
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('')
  await expectAccessible(page)
  await page.goto('/tools/e2e.broken?input=[1]')
  await told('not an object')
  await page.goto(`/tools/e2e.broken?input={"text":"${'a'.repeat(6_000)}`)
  await told('was cut off')
})

const LARGE = '9007199254740993'

test('a large number keeps its digits in links, forms, runs and approvals', async () => {
  const properties = { id: { type: 'integer' }, text: { type: 'string' } }
  await world.server.echo('e2e.large', {
    input_schema: { type: 'object', properties },
    permission_level: 'write',
  })
  const agent = await world.server.agentKey('counter')
  const ask = async (path: string, key: string, body?: string) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const method = body ? 'POST' : 'GET'
    return (await fetch(world.server.url + path, { method, headers, body })).text()
  }
  const inputs = async () =>
    (await ask('/api/runs?tool=e2e.large', world.server.key)).match(/"input":\{[^}]*\}/g)
  const page = await world.signedIn()
  await page.goto(`/tools/e2e.large?input={"id":${LARGE}}`)
  const id = page.getByLabel('ID', { exact: true })
  await expect.poll(() => id.inputValue()).toBe(LARGE)
  await page.getByRole('button', { name: 'Copy link' }).click()
  await expect.poll(() => copied(page)).toContain(LARGE)
  await runButton(page).click()
  await succeeds(page)
  await result(page).getByText(LARGE).first().waitFor()
  await expect.poll(inputs).toEqual([`"input":{"id":${LARGE}}`])

  await page.goto('/tools/e2e.large')
  await page.getByRole('link', { name: 'Re-run with changes' }).click()
  await succeeds(page)
  await expect.poll(() => id.inputValue()).toBe(LARGE)
  await page.getByLabel('Text').fill('again')
  await page.getByRole('button', { name: 'JSON', exact: true }).click()
  await page.getByRole('textbox', { name: 'Input as JSON' }).getByText(LARGE).waitFor()
  await runButton(page).click()
  await result(page).getByText('again', { exact: true }).waitFor()
  await expect
    .poll(async () => (await inputs())?.[0])
    .toBe(`"input":{"id":${LARGE},"text":"again"}`)

  const parked = await ask(
    '/api/tools/e2e.large/run',
    agent,
    `{"input":{"id":${LARGE}},"wait_ms":1}`,
  )
  await page.goto(`/approvals/${JSON.parse(parked).approval_id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Text').fill('edited')
  await page.getByRole('button', { name: 'Review changes' }).click()
  await page.getByRole('button', { name: 'Approve with changes' }).click()
  await page.getByText('You approved this').first().waitFor()
  await expect
    .poll(async () => (await inputs())?.[0])
    .toBe(`"input":{"id":${LARGE},"text":"edited"}`)
})

test('what was typed is there again until it is reset or the person signs out', async () => {
  await world.server.echo('e2e.typed')
  await world.server.api('POST', '/api/users', {
    email: 'typist@example.com',
    display_name: 'Typist',
    role: 'member',
    password: 'correct horse battery staple',
  })
  world.expectComplaint(/401/)
  const page = await world.stranger()
  const signIn = async () => {
    await page.getByLabel('Email').fill('typist@example.com')
    await page.getByLabel('Password').fill('correct horse battery staple')
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  const away = async () => {
    await page.getByRole('link', { name: 'All tools' }).click()
    const found = page.getByRole('list', { name: 'Tools found' })
    await found.getByRole('link', { name: 'e2e.typed' }).click()
    await page.getByLabel('Text').waitFor()
  }
  const restored = page.getByText('Your earlier input was restored.')
  await page.goto('/tools/e2e.typed')
  await signIn()
  await page.getByLabel('Text').waitFor()
  await away()
  await expect.poll(() => restored.count()).toBe(0)
  await page.getByLabel('Text').fill('half a thought')
  await away()
  await restored.waitFor()
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('half a thought')
  await expectAccessible(page)
  await page.goto('/tools/e2e.typed?input={"text":"linked"}')
  await page.getByLabel('Text').waitFor()
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('linked')
  await expect.poll(() => restored.count()).toBe(0)
  await away()
  await page.getByRole('button', { name: 'Start over' }).click()
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('')
  await away()
  await expect.poll(() => restored.count()).toBe(0)

  await page.getByLabel('Text').fill('not for others')
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL('**/sign-in')
  await expect
    .poll(() => page.evaluate(() => JSON.stringify(sessionStorage)))
    .not.toContain('not for others')
})

test('who may not run a tool sees its form and why there is no button', async () => {
  await world.server.echo('e2e.seen')
  await world.server.api('POST', '/api/users', {
    email: 'viewer@example.com',
    display_name: 'Viewer',
    role: 'viewer',
    password: 'correct horse battery staple',
  })
  const page = await world.signedInAs('viewer@example.com', 'correct horse battery staple')
  await page.goto('/tools/e2e.seen')
  await page.getByText('Your role can view tools, but not run them').waitFor()
  await expect.poll(() => page.getByLabel('Text').isEditable()).toBe(false)
  await expect.poll(() => runButton(page).count()).toBe(0)
  await expect.poll(() => page.getByText(/run the tool/).count()).toBe(0)
  await expectAccessible(page)
})

test('who is signed out meanwhile signs in again and finds the form as it was', async () => {
  await world.server.echo('e2e.expired')
  await world.server.api('POST', '/api/users', {
    email: 'eve@example.com',
    display_name: 'Eve',
    role: 'member',
    password: 'correct horse battery staple',
  })
  world.expectComplaint(/401/)
  const password = 'correct horse battery staple'
  const page = await world.signedInAs('eve@example.com', password)
  await withoutNews(page)
  await page.goto('/tools/e2e.expired')
  await page.getByLabel('Text').fill('typed before')
  await page.context().clearCookies()
  await runButton(page).click()
  const dialog = page.getByRole('dialog', { name: 'Session expired' })
  await dialog.getByLabel('Email').fill('eve@example.com')
  await dialog.getByLabel('Password').fill(password)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => page.getByLabel('Text').inputValue()).toBe('typed before')
  await runButton(page).click()
  await succeeds(page)
})

test('the snippet for curl works as it is, but for the key', async () => {
  const page = await world.signedIn()
  await page.goto('/tools/datetime_utils?input={"operation":"now"}')
  const elsewhere = page.getByRole('region', { name: 'Use it from code' })
  await elsewhere.getByRole('button', { name: 'Copy' }).click()
  await expect.poll(() => copied(page)).toContain('curl')
  const said = await copied(page)
  const { execFileSync } = await import('node:child_process')
  const answer = execFileSync('sh', ['-c', said.replace('YOUR_API_KEY', world.server.key)])
  expect(JSON.parse(answer.toString())).toMatchObject({ status: 'success' })
})

test('a phone has room for a tool with a long name', async () => {
  const slug = `e2e.${'x'.repeat(104)}`
  await world.server.echo(slug, { name: 'Long' })
  const page = await world.signedIn({ width: 390 })
  await page.goto(`/tools/${slug}`)
  await page.getByRole('heading', { name: 'Long', level: 1 }).waitFor()
  await runButton(page).waitFor()
  await expectNoSidewaysScroll(page)
})

test('a tool that is missing or off says so', async () => {
  world.expectComplaint(/404/)
  const page = await world.signedIn()
  await page.goto('/tools/e2e.nowhere')
  await page.getByRole('heading', { name: 'No such tool', level: 1 }).waitFor()
  await expect.poll(() => page.title()).toBe('No such tool · Toolwright')
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Go to the library' }).click()
  await page.waitForURL('**/tools')

  await page.goto('/admin/tools/e2e.nowhere/edit')
  await page.getByRole('heading', { name: 'No such tool', level: 1 }).waitFor()
  await expectAccessible(page)
  await page.getByRole('main').getByRole('link', { name: 'Manage tools' }).click()
  await page.waitForURL('**/admin/tools')

  await world.server.echo('e2e.draft', { publish: false })
  await page.goto('/tools/e2e.draft')
  await page.getByText(/is a draft/).waitFor()
  await expect.poll(() => runButton(page).count()).toBe(0)
})

const EVIL = [
  '<img src=x onerror="window.hacked=1">',
  '<script>window.hacked=1</script>',
  '"><svg onload=window.hacked=1>',
  'javascript:window.hacked=1',
  '[click](javascript:window.hacked=1)',
  '{{constructor.constructor("window.hacked=1")()}}',
  '</title><script>window.hacked=1</script>',
]

test('what tools and people write is text, wherever it shows up', async () => {
  const everything = EVIL.join('\n\n')
  await world.server.echo('e2e.evil', {
    name: EVIL[0],
    description: everything,
    category: EVIL[1],
    icon: EVIL[2],
    tags: [EVIL[0]],
    input_schema: {
      type: 'object',
      properties: { text: { type: 'string', title: EVIL[0], description: everything }, rows: {} },
      examples: [{ text: EVIL[0] }],
    },
    view_spec: {
      version: 1,
      blocks: [
        { type: 'markdown', path: '/args/text', label: EVIL[0] },
        { type: 'table', path: '/args/rows', label: EVIL[1] },
        { type: 'chart', path: '/args/rows', config: { chart: 'bar', x: 'name', y: ['value'] } },
        { type: 'radar', path: '/args/rows', config: { label: 'name', value: ['value'] } },
        { type: 'ranking', path: '/args/rows', config: { label: 'name', value: 'value' } },
        { type: 'summary', path: '/args/rows/0' },
        { type: 'json', path: '' },
      ],
    },
  })
  const rows = EVIL.map((name, index) => ({ name, value: index + 1, [name]: name }))
  const { run_id } = await world.server.api('POST', '/api/tools/e2e.evil/run', {
    input: { text: everything, rows },
  })
  const page = await world.signedIn()
  await page.goto(`/tools/e2e.evil?run=${run_id}`)
  await succeeds(page)
  await result(page).locator('[role=img] svg text').first().waitFor()
  await result(page).locator('.prose').waitFor()
  await result(page).getByRole('img').first().hover()
  const found = await page.evaluate(() => ({
    hacked: 'hacked' in window,
    elements: document.querySelectorAll('main img, main script, [onerror], [onload]').length,
    links: [...document.querySelectorAll('a')].filter((a) => /^javascript/i.test(a.href)).length,
  }))
  expect(found).toEqual({ hacked: false, elements: 0, links: 0 })
  await expectAccessible(page)
})

test('ten thousand rows do not freeze the page', async () => {
  await world.server.echo('e2e.many')
  const rows = Array.from({ length: 10_000 }, (_, n) => ({ n, word: `w${n}` }))
  const { run_id } = await world.server.api('POST', '/api/tools/e2e.many/run', { input: { rows } })
  const page = await world.signedIn()
  await page.goto(`/tools/e2e.many?run=${run_id}`)
  await result(page).getByText('Rows 1 to 100 of 10000').waitFor()
  await result(page).getByRole('button', { name: 'Next' }).click()
  await result(page).getByRole('cell', { name: 'w100', exact: true }).waitFor()
  await expect.poll(() => result(page).getByRole('row').count()).toBe(101)
})

test('everything works by keyboard alone', async () => {
  const page = await world.signedIn()
  await page.goto('/tools/roi-calculator')
  await page.getByLabel(/^Initial investment/).waitFor()
  const reach = async (name: RegExp) => {
    for (let presses = 0; presses < 80; presses++) {
      await page.keyboard.press('Tab')
      const label = await page.evaluate(() => {
        const now = document.activeElement
        const labels = now instanceof HTMLInputElement ? now.labels : undefined
        return labels?.[0]?.textContent || now?.getAttribute('aria-label') || now?.textContent || ''
      })
      if (name.test(label)) return
    }
    throw new Error(`Tab never comes to ${name}`)
  }
  await reach(/^Initial investment/)
  await page.keyboard.type('1000')
  await reach(/^Annual benefit/)
  await page.keyboard.type('900')
  await reach(/^Run$/)
  await page.keyboard.press('Enter')
  await succeeds(page)
  await result(page).locator('[role=img] svg text').first().waitFor()
  await reach(/^As a table/)
  await page.keyboard.press('Enter')
  await reach(/^Cumulative cash flow$/)
})
