import { QueryClient } from '@tanstack/react-query'
import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

import { showPage } from '~/test-page'
import { blocks, rest, type Shown } from './blocks'
import { Hints } from './hints'
import { find, type Json, type JsonObject, steps } from './json'
import { csv, sorted, table } from './rows'
import { RunResult, type ShownRun } from './run-result'
import { POINTS_MAX, ranking, series } from './series'
import { humanise, number, safeLink } from './words'

// What the server answered to the examples of the tools' own pages.
const fixtures = import.meta.glob<{ tool: Shown; run: ShownRun }>('./fixtures/*.json', {
  eager: true,
  import: 'default',
})
const shipped = Object.values(fixtures).map(
  ({ tool, run }) => [tool.slug ?? '', tool, run] as const,
)
const calculators = shipped.filter(([slug]) => slug !== 'datetime_utils')

test('every shipped tool has a fixture', () => {
  expect(shipped).toHaveLength(9)
})

describe.each(calculators)('%s', (_, tool, run) => {
  test('every section shows something, and sections show everything', () => {
    const parts = blocks(tool, run.output)
    expect(parts).toHaveLength((tool.output_sections as unknown[]).length)
    const sectioned = parts.length + rest(tool, run.output).length
    expect(sectioned).toBe(Object.keys(run.output ?? {}).filter((key) => key !== 'currency').length)
    for (const { kind, value, config } of parts) {
      if (kind === 'chart' || kind === 'radar') {
        const drawn = series(value, config)
        expect(drawn?.categories.length).toBeGreaterThan(1)
        for (const { values } of drawn?.lines ?? []) expect(values).not.toContain(null)
      }
      if (kind === 'ranking') expect(ranking(value, config)?.length).toBeGreaterThan(1)
      if (kind === 'table') expect(table(value, config)?.rows.length).toBeGreaterThan(1)
    }
  })

  test('every section has its heading, and the summary the titles of the schema', () => {
    render(<RunResult run={run} tool={tool} />)
    for (const { label } of blocks(tool, run.output)) {
      expect(screen.getByRole('heading', { name: label, level: 3 })).toBeVisible()
    }
    expect(screen.getByText('Success')).toBeVisible()
    expect(screen.queryByText(/\[object|undefined|NaN/)).toBeNull()
  })
})

test('amounts are shown in the currency of the output, other figures with their unit', () => {
  const [, tool, run] = shipped.find(([slug]) => slug === 'roi-calculator') ?? []
  if (!tool || !run) throw new Error('no fixture')
  render(<RunResult run={run} tool={tool} />)
  const summary = screen.getByRole('group', { name: 'Summary' })
  expect(within(summary).getByText('Net present value')).toBeVisible()
  expect(within(summary).getByText('€38,094.22')).toBeVisible()
  expect(within(summary).getByText('53.93%')).toBeVisible()
  expect(within(summary).getByText('2.39 years')).toBeVisible()
})

test('a view decides before sections, by pointers with stars', () => {
  const tool = {
    view_spec: {
      version: 1,
      blocks: [
        { type: 'chart', path: '/rows/*/year' },
        { type: 'json', path: '' },
        { type: 'table', path: '/missing' },
        { type: 'markdown', key: 'text', label: 'Said' },
      ],
    },
    output_sections: [{ key: 'rows', label: 'Rows', type: 'table' }],
  }
  const output = { rows: [{ year: 1 }, { year: 2 }], text: 'a' }
  expect(blocks(tool, output).map(({ kind, label, value }) => [kind, label, value])).toEqual([
    ['chart', 'Year', [1, 2]],
    ['json', '', output],
    ['markdown', 'Said', 'a'],
  ])
})

test('sections that forget a part of the output do not hide it', () => {
  const tool = { output_sections: [{ key: 'a', label: 'A', type: 'summary' }] }
  const [left, ...others] = rest(tool, { a: 1, bC: 2, currency: 'EUR' })
  expect(left).toMatchObject({ kind: 'custom', label: 'B c', value: 2 })
  expect(others).toEqual([])
  expect(blocks(tool, { b: 2 })).toEqual([])
  expect(blocks({ output_sections: 'x', view_spec: 7 }, {})).toEqual([])
})

test('paths lead to own keys only', () => {
  expect(find({ 'a/b': [{ c: 1 }, {}] }, steps('/a~1b/*/c'))).toEqual([1])
  expect(find({}, ['constructor'])).toBeUndefined()
  expect(find([1], ['length'])).toBeUndefined()
})

test('hints are found through references and alternatives, and circles end', () => {
  const schema = {
    properties: {
      a: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] },
      b: { $ref: '#/$defs/B' },
    },
    $defs: {
      A: { type: 'array', items: { properties: { n: { title: 'N', 'x-unit': 'hours' } } } },
      B: { $ref: '#/$defs/B' },
    },
  }
  expect(new Hints(schema).at(['a', '0', 'n']).hint).toMatchObject({ title: 'N', unit: 'hours' })
  expect(new Hints(schema).at(['b', 'x']).hint.title).toBeUndefined()
})

test('charts are read without a config, too', () => {
  expect(series([3, 4], {})?.lines).toEqual([{ key: 'value', values: [3, 4] }])
  expect(series({ a: 1, b: 2 }, {})?.categories).toEqual(['a', 'b'])
  expect(series([{ year: 1, net: 5 }], {})).toMatchObject({ x: 'year', lines: [{ key: 'net' }] })
  expect(series('text', {})).toBeUndefined()
  expect(series([{ a: 'x' }], { y: ['a'] })).toBeUndefined()
  const many = Array.from({ length: 10_000 }, (_, n) => n)
  expect(series(many, {})).toMatchObject({ total: 10_000 })
  expect(series(many, {})?.categories).toHaveLength(POINTS_MAX)
})

test('names are put into words', () => {
  expect(['netCashFlow', 'unix_seconds', 'very-high', 'ROIPercent', 'x', ''].map(humanise)).toEqual(
    ['Net cash flow', 'Unix seconds', 'Very high', 'ROI percent', 'X', ''],
  )
})

test('numbers have their unit, and a currency that is none does no harm', () => {
  expect(number(1234.5)).toBe('1,234.5')
  expect(number(1, 'years')).toBe('1 year')
  expect(number(2, 'FTE')).toBe('2 FTE')
  expect(number(1000, 'currency', 'EUR')).toBe('€1,000')
  expect(number(1000, 'currency', 'E"R')).toBe('1,000')
})

test('only harmless addresses are links', () => {
  expect(safeLink('https://example.com/a?b#c')).toBeDefined()
  expect(safeLink('mailto:a@example.com')).toBeDefined()
  for (const text of [
    'javascript:alert(1)',
    ' https://example.com',
    'data:text/html,x',
    'java\nscript:alert(1)',
    'https://exa mple.com',
    'vbscript:x',
    '//example.com',
  ]) {
    expect(safeLink(text)).toBeUndefined()
  }
})

test('files for spreadsheets carry no formulas', () => {
  const rows: Json = [
    { a: '=1+1', b: 'x "y", z' },
    { a: -1, b: null, c: ['d'] },
  ]
  const found = table(rows)
  expect(found && csv(found)).toBe('a,b,c\r\n\'=1+1,"x ""y"", z",\r\n-1,,"[""d""]"\r\n')
})

test('what is missing comes last in either order', () => {
  const rows: JsonObject[] = [{ a: 2 }, { a: null }, { a: 10 }, {}]
  const order = (down: boolean) =>
    sorted(rows, { column: 'a', down }, 'en').map(({ a }) => a ?? null)
  expect(order(false)).toEqual([2, 10, null, null])
  expect(order(true)).toEqual([10, 2, null, null])
})

test('ten thousand rows are shown a hundred at a time, and sorted as a whole', async () => {
  const output = Array.from({ length: 10_000 }, (_, n) => ({ n }))
  render(<RunResult run={{ status: 'success', output }} />)
  expect(screen.getAllByRole('row')).toHaveLength(101)
  expect(screen.getByText('Rows 1 to 100 of 10000')).toBeVisible()
  const head = screen.getByRole('button', { name: 'N' })
  await userEvent.click(head)
  await userEvent.click(head)
  expect(screen.getAllByRole('cell')[0]).toHaveTextContent('9,999')
  await userEvent.click(screen.getByRole('button', { name: 'Next' }))
  expect(screen.getAllByRole('cell')[0]).toHaveTextContent('9,899')
})

test('a failed run says why, in words, with its code and its page', async () => {
  const run = { status: 'error', error: 'No luck', error_code: 'TOOL_FAILED', effect: 'unknown' }
  await showPage(new QueryClient(), <RunResult run={run} />)
  expect(screen.getByText('No luck')).toBeVisible()
  expect(screen.getByText(/ran and reported an error/)).toBeVisible()
  expect(screen.getByText(/Check its effects/)).toBeVisible()
  expect(screen.getByRole('link')).toHaveAttribute('href', '/docs/errors/TOOL_FAILED')
})

test('hostile outputs are texts', async () => {
  const evil = '<img src=x onerror=alert(1)>'
  const run = {
    status: 'success',
    output: { [evil]: evil, link: 'javascript:alert(1)', __proto__x: { constructor: evil } },
    summary: evil,
    markdown: `${evil} [a](javascript:alert(1)) [b](https://example.com) ![c](https://example.com/c.png)`,
  }
  const { container } = render(<RunResult run={run} />)
  const link = await screen.findByRole('link', { name: 'b' }, { timeout: 10_000 })
  expect(link).toHaveAttribute('href', 'https://example.com')
  expect(container.querySelector('img, script, [onerror]')).toBeNull()
  expect(screen.getAllByRole('link')).toHaveLength(1)
})

test('what a tool wrote to its log is shown, also where it failed', async () => {
  const run = { status: 'error', error_code: 'SANDBOX_EXCEPTION', error: 'no (line 3)' }
  await showPage(new QueryClient(), <RunResult run={{ ...run, logs: ['one', '<b>two</b>'] }} />)
  expect(screen.getByLabelText('Log').textContent).toBe('one\n<b>two</b>')
  expect(screen.getByText('no (line 3)')).toBeVisible()
})

test('a run without a log shows none', () => {
  render(<RunResult run={{ status: 'success', output: 1, logs: [] }} />)
  expect(screen.queryByLabelText('Log')).toBeNull()
})
