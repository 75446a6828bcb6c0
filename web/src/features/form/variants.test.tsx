import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'

import { type Kind, KINDS, shapeOf, VARIANTS, withVariant } from '~/features/admin/schema/kinds'
import { ToolForm } from './tool-form'

const BOUNDS = { minimum: 0, maximum: 100 }
const LINE = { item: { type: 'string' }, count: { type: 'integer' } }

/** A field of a type that every variant of the type fits, and a value for it. */
const FIELDS: Record<Kind, [schema: object, value: unknown]> = {
  text: [{}, 'some *text*'],
  number: [BOUNDS, 3],
  boolean: [{}, true],
  date: [{}, undefined],
  enum: [{}, 'option_1'],
  url: [{}, 'https://example.com/a.png'],
  email: [{}, 'ada@example.com'],
  phone: [{}, '+43 (1) 234'],
  media: [{}, 'https://example.com/a.png'],
  relation: [{ 'x-entity-type': 'tool' }, 'trip.plan'],
  object: [{ properties: LINE }, { item: 'a' }],
  array: [{}, undefined],
}

// What a list can be depends on its items.
const ITEMS: Record<string, [items: object, value: unknown]> = {
  table: [{ type: 'object', properties: LINE }, [{ item: 'a', count: 1 }]],
  tags: [{ type: 'string' }, ['a']],
  'multi-select': [{ type: 'string', enum: ['red', 'green'] }, ['red']],
}

function show(schema: object, value?: unknown, required: string[] = []) {
  const sent = vi.fn()
  const seen: { value?: unknown } = {}
  function Host() {
    const [now, setNow] = useState<unknown>(value === undefined ? {} : { thing: value })
    seen.value = now
    const input_schema = { type: 'object', properties: { thing: schema }, required }
    return (
      <ToolForm tool={{ slug: 't', input_schema }} value={now} onChange={setNow} onSubmit={sent} />
    )
  }
  const { container, unmount } = render(<Host />)
  return { seen, sent, container, unmount, user: userEvent.setup() }
}

function drawn(schema: object, value: unknown): string {
  const { container, unmount } = show(schema, value)
  // The names that the page makes up differ each time.
  const html = container.innerHTML.replace(/_r_\w+_/g, '')
  unmount()
  return html
}

const others = KINDS.flatMap((kind) =>
  VARIANTS[kind].slice(1).map((variant) => ({ kind, variant })),
)

test.each(others)('$kind as $variant looks other than it does by itself', ({ kind, variant }) => {
  const [items, entries] = ITEMS[variant] ?? []
  const [more, one] = FIELDS[kind]
  const usual = { ...shapeOf(kind), ...more, ...(kind === 'array' && items ? { items } : {}) }
  const value = kind === 'array' ? entries : one
  expect(drawn(withVariant(usual, kind, variant), value)).not.toBe(drawn(usual, value))
})

test('no two ways to show a type look the same', () => {
  for (const kind of KINDS.filter((kind) => kind !== 'array')) {
    const [more, value] = FIELDS[kind]
    const all = VARIANTS[kind].map((variant) =>
      // A mark of up to a hundred is no rating.
      drawn(
        withVariant(
          { ...shapeOf(kind), ...more, ...(variant === 'rating' ? { maximum: 5 } : {}) },
          kind,
          variant,
        ),
        value,
      ),
    )
    expect(new Set(all).size, kind).toBe(all.length)
  }
})

test('a rating is given in stars, by mouse and by keyboard, and can be taken back', async () => {
  const { seen, user } = show({ type: 'integer', 'x-variant': 'rating' })
  const group = screen.getByRole('radiogroup', { name: 'Thing' })
  expect(within(group).getAllByRole('radio')).toHaveLength(5)
  await user.click(within(group).getByRole('radio', { name: '3 of 5' }))
  expect(seen.value).toEqual({ thing: 3 })
  await user.keyboard('{ArrowRight}')
  expect(seen.value).toEqual({ thing: 4 })
  await user.click(screen.getByRole('button', { name: 'Remove Thing' }))
  expect(seen.value).toEqual({})
})

test.each([
  [{ type: 'integer', minimum: 0, maximum: 100, 'x-variant': 'rating' }, 'slider'],
  [{ type: 'number', maximum: 1000, 'x-variant': 'rating' }, 'textbox'],
  [{ type: 'number', 'x-variant': 'slider' }, 'textbox'],
  [{ type: 'array', items: { type: 'string', enum: ['a'] }, 'x-variant': 'table' }, 'checkbox'],
  [{ type: 'boolean', 'x-variant': 'segmented' }, 'switch'],
])('%j is shown as a %s', (schema, role) => {
  show(schema)
  expect(screen.getByRole(role)).toBeInTheDocument()
})

test('yes or no is a switch, or a box', async () => {
  const { seen, user } = show({ type: 'boolean' })
  await user.click(screen.getByRole('switch', { name: 'Thing' }))
  expect(seen.value).toEqual({ thing: true })
})

test.each([{}, { 'x-variant': 'checkbox' }])(
  'a yes or no that is needed %j is two buttons, none chosen, and is not sent until one is',
  async (variant) => {
    const { seen, sent, user } = show({ type: 'boolean', ...variant }, undefined, ['thing'])
    const group = screen.getByRole('radiogroup', { name: 'Thing' })
    const [yes, no] = within(group).getAllByRole('radio')
    expect(yes).not.toBeChecked()
    expect(no).not.toBeChecked()
    expect(group).toBeRequired()
    expect(seen.value).toEqual({})
    await user.click(screen.getByRole('button', { name: 'Run' }))
    expect(sent).not.toHaveBeenCalled()
    expect(group).toBeInvalid()
    expect(group).toHaveFocus()
    expect(group).toHaveAccessibleDescription('This field is required.')
    await user.click(within(group).getByRole('radio', { name: 'No' }))
    await user.click(screen.getByRole('button', { name: 'Run' }))
    expect(sent).toHaveBeenCalledExactlyOnceWith({ thing: false })
  },
)

test('a yes or no with a default stays a switch, needed or not', () => {
  const { seen } = show({ type: 'boolean', default: true }, undefined, ['thing'])
  expect(screen.getByRole('switch', { name: 'Thing' })).toBeChecked()
  expect(seen.value).toEqual({ thing: true })
})

test('an answer that is one yes or no is given by a button as well', async () => {
  const sent = vi.fn()
  const tool = { slug: 't', input_schema: { type: 'boolean', title: 'Shall we?' } }
  render(<ToolForm tool={tool} value={undefined} onChange={vi.fn()} onSubmit={sent} />)
  const user = userEvent.setup()
  await user.click(screen.getByRole('button', { name: 'Run' }))
  expect(sent).not.toHaveBeenCalled()
  await user.click(screen.getByRole('radio', { name: 'Yes' }))
  await user.click(screen.getByRole('button', { name: 'Run' }))
  expect(sent).toHaveBeenCalledExactlyOnceWith(true)
})

test('segments are chosen as radio buttons are', async () => {
  const { seen, user } = show({ type: 'string', enum: ['a', 'b'], 'x-variant': 'segmented' })
  await user.click(screen.getByRole('radio', { name: 'B' }))
  expect(seen.value).toEqual({ thing: 'b' })
})

test('money is shown as on a bill, a share with its sign', () => {
  const money = show({ type: 'number', 'x-variant': 'currency', 'x-unit': 'EUR' }, 1234.5)
  expect(screen.getByText('€1,234.50')).toBeInTheDocument()
  money.unmount()
  show({ type: 'number', 'x-variant': 'percent' }, 5)
  expect(screen.getByLabelText('Thing')).toHaveAccessibleDescription('%')
})

test('amounts are in the currency that the form names, and in none before it does', async () => {
  const properties = {
    price: { type: 'number', 'x-unit': 'currency' },
    currency: { type: 'string' },
  }
  function Host() {
    const [value, setValue] = useState<unknown>({ price: 5 })
    const tool = { slug: 't', input_schema: { type: 'object', properties } }
    return <ToolForm tool={tool} value={value} onChange={setValue} />
  }
  render(<Host />)
  const price = screen.getByLabelText('Price')
  expect(price).toHaveAccessibleDescription('')
  await userEvent.type(screen.getByLabelText('Currency'), 'USD')
  expect(price).toHaveAccessibleDescription('USD')
  expect(screen.queryByText('currency')).toBeNull()
})

test.each([
  [{ type: 'string', format: 'uri' }, 'https://a.example/', 'Open Thing', 'https://a.example/'],
  [
    { type: 'string', format: 'email' },
    'a@b.example',
    'Write an email to Thing',
    'mailto:a@b.example',
  ],
  [{ type: 'string', 'x-toolwright-type': 'phone' }, '+43 (1) 23', 'Call Thing', 'tel:+43123'],
  [
    { type: 'string', 'x-toolwright-type': 'relation', 'x-entity-type': 'run' },
    'r/1',
    'Open Thing',
    '/runs/r%2F1',
  ],
])('%j with %s leads to what it names', (schema, value, name, to) => {
  show({ ...schema, 'x-variant': 'link' }, value)
  expect(screen.getByRole('link', { name })).toHaveAttribute('href', to)
})

test.each(['javascript:alert(1)', 'not an address', ''])('%j leads nowhere', (value) => {
  show({ type: 'string', format: 'uri', 'x-variant': 'link' }, value)
  expect(screen.queryByRole('link')).toBeNull()
})

test('markdown can be looked at as it will be read', async () => {
  const { user } = show({ type: 'string', 'x-variant': 'markdown' }, 'so **bold**')
  await user.click(screen.getByRole('button', { name: 'Preview of Thing' }))
  expect((await screen.findByText('bold', {}, { timeout: 20_000 })).tagName).toBe('STRONG')
}, 30_000)

test('several are chosen from many, with a search', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `name ${index}`)
  const schema = { type: 'array', items: { type: 'string', enum: names } }
  const { seen, user } = show({ ...schema, 'x-variant': 'multi-select' })
  const button = screen.getByRole('button', { name: 'Thing: Choose…' })
  await user.click(button)
  expect(button).toHaveAttribute('aria-expanded', 'true')
  await user.type(screen.getByRole('searchbox'), 'name 33')
  await user.click(screen.getByRole('checkbox', { name: 'name 33' }))
  expect(seen.value).toEqual({ thing: ['name 33'] })
  expect(button).toHaveAccessibleName('Thing: name 33')
})

test('a table has a row for each item, and every cell a name', async () => {
  const items = { type: 'object', properties: LINE }
  const { seen, user } = show({ type: 'array', items, 'x-variant': 'table' }, [{ item: 'a' }])
  const row = screen.getByRole('listitem')
  expect(within(row).getByLabelText('Item')).toHaveValue('a')
  await user.type(within(row).getByLabelText('Count'), '2')
  expect(seen.value).toEqual({ thing: [{ item: 'a', count: 2 }] })
  await user.click(screen.getByRole('button', { name: 'Add item to Thing' }))
  expect(screen.getAllByRole('listitem')).toHaveLength(2)
})

test.each(['image', 'video', 'audio'])('only files of the kind %s can be chosen', (variant) => {
  show({ type: 'string', 'x-toolwright-type': 'media', 'x-variant': variant })
  const input = screen.getByLabelText('Choose a file for Thing')
  expect(input).toHaveAttribute('accept', `${variant}/*`)
})

test('the size that is promised for a file is one that passes', async () => {
  const { seen, user } = show({ type: 'string', 'x-toolwright-type': 'media' })
  expect(screen.getByText('An address, or a file of at most 2.9 MB.')).toBeInTheDocument()
  const file = (bytes: number) => new File([new Uint8Array(bytes)], 'a.bin')
  const choose = screen.getByLabelText('Choose a file for Thing')
  await user.upload(choose, file(3 << 20))
  expect(await screen.findByRole('alert')).toHaveTextContent('at most 2.9 MB')
  await user.upload(choose, file(Math.floor(2.9 * (1 << 20))))
  await vi.waitFor(() => expect(seen.value).toHaveProperty('thing'), 10_000)
  // The server takes 4 MiB, the file as base64 and all that stands around it.
  expect(JSON.stringify({ input: seen.value }).length).toBeLessThan(4 << 20)
}, 30_000)
