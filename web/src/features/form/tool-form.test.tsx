import { forEachDiagnostic } from '@codemirror/lint'
import { EditorView } from '@codemirror/view'
import { act, fireEvent, render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

import type { Fault } from '~/api/problem'
import sink from './kitchen-sink.json'
import { ToolForm, type ToolFormProps } from './tool-form'

interface Seen {
  value?: unknown
  sent: unknown[]
}

function Host({ seen, start, ...props }: Partial<ToolFormProps> & { seen: Seen; start?: unknown }) {
  const [value, setValue] = useState(start)
  seen.value = value
  const tool = props.tool ?? { slug: 't', input_schema: {} }
  return (
    <ToolForm
      {...props}
      tool={tool}
      value={value}
      onChange={setValue}
      onSubmit={(sent) => seen.sent.push(sent)}
    />
  )
}

function show(
  input_schema: unknown,
  props: Partial<ToolFormProps> & { start?: unknown; form_spec?: unknown } = {},
) {
  const seen: Seen = { sent: [] }
  const tool = { slug: 'a.tool', input_schema, form_spec: props.form_spec }
  const view = render(<Host {...props} tool={tool} seen={seen} />)
  const again = (more: Partial<ToolFormProps>) =>
    view.rerender(<Host {...props} {...more} tool={tool} seen={seen} />)
  return { seen, again, user: userEvent.setup() }
}

const object = (properties: object, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
})
const run = () => screen.getByRole('button', { name: 'Run' })

test('a refused submit says what is wrong next to the fields and goes to the first', async () => {
  const schema = object({ name: { type: 'string' }, years: { type: 'integer', minimum: 1 } }, [
    'name',
    'years',
  ])
  const { seen, user } = show(schema)
  await user.click(run())
  const name = screen.getByLabelText('Name')
  expect(name).toHaveFocus()
  expect(name).toHaveAttribute('aria-invalid', 'true')
  expect(name).toHaveAccessibleDescription(/This field is required/)
  await user.type(name, 'Ada')
  expect(name).not.toHaveAttribute('aria-invalid')
  await user.type(screen.getByLabelText('Years'), '0')
  expect(screen.getByText('Enter a number of at least 1.')).toBeInTheDocument()
  await user.clear(screen.getByLabelText('Years'))
  await user.type(screen.getByLabelText('Years'), '2')
  await user.click(run())
  expect(seen.sent).toEqual([{ name: 'Ada', years: 2 }])
})

test('before the first try only what was typed wrongly is told, once the field is left', async () => {
  const { user } = show(
    object({ name: { type: 'string' }, mail: { type: 'string', format: 'email' } }, ['name']),
  )
  await user.click(screen.getByLabelText('Name'))
  await user.type(screen.getByLabelText('Mail'), 'x')
  expect(screen.queryByText(/Enter an email/)).toBeNull()
  await user.tab()
  expect(screen.getByText(/Enter an email/)).toBeInTheDocument()
  expect(screen.queryByText('This field is required.')).toBeNull()
})

test('items are added, moved and removed, and the keyboard stays with them', async () => {
  const schema = object({
    lines: {
      type: 'array',
      items: object({ item: { type: 'string' }, count: { type: 'integer', default: 1 } }),
    },
  })
  const { seen, user } = show(schema)
  const add = screen.getByRole('button', { name: 'Add item to Lines' })
  await user.click(add)
  await waitFor(() => expect(screen.getByLabelText('Item')).toHaveFocus())
  await user.keyboard('first')
  await user.click(add)
  await waitFor(() => expect(screen.getAllByLabelText('Item')[1]).toHaveFocus())
  await user.keyboard('second')
  expect(seen.value).toEqual({
    lines: [
      { item: 'first', count: 1 },
      { item: 'second', count: 1 },
    ],
  })

  await user.click(screen.getByRole('button', { name: 'Move item 2 up' }))
  expect(seen.value).toMatchObject({ lines: [{ item: 'second' }, { item: 'first' }] })
  await waitFor(() =>
    expect(screen.getByRole('button', { name: 'Move item 1 down' })).toHaveFocus(),
  )

  await user.click(screen.getByRole('button', { name: 'Remove item 1' }))
  expect(seen.value).toMatchObject({ lines: [{ item: 'first' }] })
  await waitFor(() => expect(screen.getByRole('button', { name: 'Remove item 1' })).toHaveFocus())
  await user.click(screen.getByRole('button', { name: 'Remove item 1' }))
  await waitFor(() =>
    expect(screen.getByRole('button', { name: 'Add item to Lines' })).toHaveFocus(),
  )
  expect(seen.value).toEqual({})
})

test('a default is put in, and what was emptied stays empty', async () => {
  const { seen, user } = show(
    object({ n: { type: 'integer', default: 10 }, s: { type: 'string', default: 'x' } }),
  )
  expect(seen.value).toEqual({ n: 10, s: 'x' })
  await user.clear(screen.getByLabelText('N'))
  expect(screen.getByLabelText('N')).toHaveDisplayValue('')
  expect(screen.getByText('If left empty: 10.')).toBeInTheDocument()
  await user.type(screen.getByLabelText('N'), '25')
  await user.clear(screen.getByLabelText('S'))
  expect(seen.value).toEqual({ n: 25, s: '' })
})

test('conditional fields come and go, and are asked for only while they are there', async () => {
  const { urgent, rush_fee, payment, bill_to, tree } = sink.input_schema.properties
  const { allOf, $defs } = sink.input_schema
  const { seen, user } = show({
    ...object({ bill_to, tree, urgent, rush_fee, payment }),
    allOf,
    $defs,
  })
  expect(screen.queryByLabelText(/Card Number/)).toBeNull()
  await user.selectOptions(screen.getByLabelText('Payment'), 'Card')
  const card = screen.getByLabelText('Card Number')
  await user.click(run())
  expect(card).toHaveFocus()
  await user.selectOptions(screen.getByLabelText('Payment'), 'Invoice')
  expect(screen.queryByLabelText(/Card Number/)).toBeNull()

  expect(screen.queryByLabelText('Rush Fee')).toBeNull()
  await user.click(screen.getByLabelText('Urgent'))
  await user.type(screen.getByLabelText('Rush Fee'), '7')
  expect(seen.value).toMatchObject({ urgent: true, rush_fee: 7 })
  await user.click(screen.getByLabelText('Urgent'))
  expect(seen.value).not.toHaveProperty('rush_fee')
  await user.click(screen.getByLabelText('Urgent'))
  expect(screen.getByLabelText('Rush Fee')).toHaveDisplayValue('7')
  await user.click(run())
  expect(seen.sent).toHaveLength(1)
})

test('one of several forms is picked, and carries the constant that names it', async () => {
  const { seen, user } = show(object({ contact: sink.input_schema.properties.contact }))
  await user.selectOptions(screen.getByLabelText('Contact'), 'By letter')
  expect(seen.value).toEqual({ contact: { by: 'letter' } })
  await user.type(screen.getByLabelText('Street'), 'Ring 1')
  expect(seen.value).toEqual({ contact: { by: 'letter', street: 'Ring 1' } })
  await user.selectOptions(screen.getByLabelText('Contact'), 'By phone')
  expect(seen.value).toEqual({ contact: { by: 'phone' } })
  await user.click(run())
  expect(screen.getByLabelText('Number')).toHaveFocus()
  await user.selectOptions(screen.getByLabelText('Contact'), 'None')
  await user.click(run())
  expect(seen.sent).toEqual([{}])
})

test('an optional object is added before it asks for anything', async () => {
  const { seen, user } = show(object({ bill_to: object({ city: { type: 'string' } }, ['city']) }))
  await user.click(run())
  expect(seen.sent).toEqual([{}])
  await user.click(screen.getByRole('button', { name: 'Add Bill To' }))
  await user.click(run())
  expect(screen.getByLabelText('City')).toHaveFocus()
  await user.click(screen.getByRole('button', { name: 'Remove Bill To' }))
  expect(seen.value).toEqual({})
})

test('choices of a list are boxes; their order is that of the schema', async () => {
  const { seen, user } = show(object({ days: sink.input_schema.properties.days }))
  await user.click(screen.getByLabelText('Wednesday'))
  await user.click(screen.getByLabelText('Monday'))
  expect(seen.value).toEqual({ days: ['monday', 'wednesday'] })
  await user.click(screen.getByLabelText('Monday'))
  await user.click(screen.getByLabelText('Wednesday'))
  expect(seen.value).toEqual({})
})

test('a list of named places is there once one of them is filled', async () => {
  const { seen, user } = show(object({ pair: sink.input_schema.properties.pair }))
  expect(seen.value).toEqual({})
  await user.type(screen.getByLabelText('Pair 2'), '7')
  expect(seen.value).toEqual({ pair: [null, 7] })
  await user.type(screen.getByLabelText('Pair 1'), 'x')
  await user.click(run())
  expect(seen.sent).toEqual([{ pair: ['x', 7] }])
  await user.clear(screen.getByLabelText('Pair 1'))
  await user.clear(screen.getByLabelText('Pair 2'))
  expect(seen.value).toEqual({})
})

test('a map gets entries with names', async () => {
  const { seen, user } = show(object({ labels: sink.input_schema.properties.labels }))
  await user.click(screen.getByRole('button', { name: 'Add entry' }))
  const name = screen.getByLabelText('Name')
  await user.clear(name)
  await user.type(name, 'colour')
  await user.tab()
  const value = screen.getByLabelText('colour')
  await user.clear(value)
  await user.type(value, 'red')
  expect(seen.value).toEqual({ labels: { colour: 'red' } })
  await user.click(screen.getByRole('button', { name: 'Remove colour' }))
  expect(seen.value).toEqual({})
})

test('faults of the server stand at their fields until these change', async () => {
  const schema = object({ code: { type: 'string' }, other: { type: 'string' } })
  const { again, user } = show(schema, { start: { code: 'x' } })
  const faults: Fault[] = [
    { path: '/code', message: 'is taken' },
    { path: '/gone', message: 'is unknown' },
  ]
  again({ faults })
  const code = screen.getByLabelText('Code')
  expect(code).toHaveAccessibleDescription('is taken')
  await waitFor(() => expect(code).toHaveFocus())
  expect(screen.getByText('/gone: is unknown')).toBeInTheDocument()
  await user.type(screen.getByLabelText('Other'), 'y')
  expect(screen.getByText('is taken')).toBeInTheDocument()
  await user.type(code, 'z')
  expect(screen.queryByText('is taken')).toBeNull()
})

test('while it is busy nothing is sent, and two presses are one', async () => {
  const { seen, again, user } = show(object({}))
  await user.dblClick(run())
  expect(seen.sent).toHaveLength(1)
  again({ busy: true })
  expect(run()).toHaveAttribute('aria-disabled', 'true')
})

test('the second half of a double click sends nothing, however late it comes', () => {
  const { seen, again } = show(object({}))
  fireEvent.click(run(), { detail: 1 })
  again({ busy: true })
  again({ busy: false })
  fireEvent.click(run(), { detail: 2 })
  expect(seen.sent).toHaveLength(1)
  fireEvent.click(run(), { detail: 1 })
  expect(seen.sent).toHaveLength(2)
})

test('the form spec is followed: sections, labels, help, order, controls', async () => {
  const { seen, user } = show(sink.input_schema, { form_spec: sink.form_spec })
  const who = screen.getByRole('group', { name: 'Who' })
  expect(within(who).getByLabelText('Full name')).toHaveAttribute('placeholder', 'First and last')
  expect(within(who).getByLabelText('Mail')).toHaveAttribute('type', 'email')
  expect(screen.getByRole('radiogroup', { name: 'Size' })).toHaveAccessibleDescription(
    'Only for shirts.',
  )
  await user.click(screen.getByLabelText('Medium'))
  expect(screen.getByLabelText('Share')).toHaveAttribute('type', 'range')
  expect(screen.getByLabelText('Pieces')).toHaveAccessibleDescription(/boxes/)
  expect(screen.queryByLabelText(/Kind/)).toBeNull()
  expect(screen.queryByLabelText('Count')).toBeNull()
  await user.type(screen.getByLabelText('Item'), 'x')
  expect(screen.getByLabelText('Count')).toHaveDisplayValue('1')
  await user.type(screen.getByLabelText('Tags'), 'red,blue{Enter}')
  expect(seen.value).toMatchObject({
    size: 'm',
    tags: ['red', 'blue'],
    lines: [{ item: 'x', count: 1 }],
  })
  expect(screen.getByRole('button', { name: 'Send it' })).toBeInTheDocument()
})

test.each([
  ['true', true],
  ['false', false],
  ['null', null],
  ['no properties', { type: 'object' }],
  ['an unknown type', { type: 'object', properties: { a: { type: 'banana' } } }],
  ['wrong keywords', { type: 'object', properties: 5, required: 'x', allOf: {}, enum: 7 }],
  ['an array', { type: 'array', items: { type: 'string' } }],
  ['a text', { type: 'string' }],
  ['itself', { $ref: '#' }],
  ['a circle', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
  ['a broken reference', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }],
  [
    'odd names',
    {
      type: 'object',
      properties: { '': {}, 'a.b/c~d': { type: 'string' }, constructor: { type: 'string' } },
    },
  ],
])('a schema that is %s does not take the page with it', async (_, schema) => {
  const { user } = show(schema)
  await user.click(run())
  expect(screen.getByRole('button', { name: 'Run' })).toBeInTheDocument()
})

async function editor(): Promise<EditorView> {
  const content = await screen.findByRole('textbox', { name: 'Input as JSON' })
  const view = EditorView.findFromDOM(content)
  if (!view) throw new Error('there is no editor')
  return view
}

async function write(text: string) {
  const view = await editor()
  act(() => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }))
}

test('form and JSON show the same value, and text that is no JSON yet is not lost', async () => {
  const { seen, user } = show(object({ name: { type: 'string' }, n: { type: 'integer' } }, ['n']))
  await user.type(screen.getByLabelText('Name'), 'Ada')
  await user.click(screen.getByRole('button', { name: 'JSON' }))
  expect(JSON.parse((await editor()).state.doc.toString())).toEqual({ name: 'Ada' })
  expect(screen.getByText('/n: This field is required.')).toBeInTheDocument()

  await write('{"name": "Bo", "n": 1, "extra": [')
  await user.click(screen.getByRole('button', { name: 'Form' }))
  expect(screen.getByRole('alert')).toHaveTextContent('The text is not valid JSON')
  await user.click(run())
  expect(seen.sent).toEqual([])
  expect((await editor()).state.doc.toString()).toContain('"extra": [')
  expect(seen.value).toEqual({ name: 'Ada' })

  await write('{"name": "Bo", "n": "x"}')
  expect(screen.getByText('/n: Enter a whole number.')).toBeInTheDocument()
  await write('{"name": "Bo", "n": 1}')
  await user.click(screen.getByRole('button', { name: 'Form' }))
  expect(screen.getByLabelText('Name')).toHaveDisplayValue('Bo')
  await user.click(run())
  expect(seen.sent).toEqual([{ name: 'Bo', n: 1 }])
})

test('a fault is marked where it stands in the text', async () => {
  const { user } = show(
    object({ list: { type: 'array', items: object({ n: { type: 'integer' } }) } }),
    {
      start: { list: [{ n: 1 }, { n: 'x' }] },
    },
  )
  await user.click(screen.getByRole('button', { name: 'JSON' }))
  const view = await editor()
  const marked: string[] = []
  forEachDiagnostic(view.state, (_, from, to) => marked.push(view.state.sliceDoc(from, to)))
  expect(marked).toEqual(['"n": "x"'])
})

const INHERITED = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype']

test('fields may have the names of what every object inherits', async () => {
  const properties = Object.fromEntries(INHERITED.map((name) => [name, { type: 'string' }]))
  const { seen, user } = show({
    ...object({ ...properties, deep: object({ constructor: { type: 'integer' } }) }, ['toString']),
    unevaluatedProperties: false,
  })
  await user.click(run())
  expect(screen.getByLabelText('To String')).toHaveAccessibleDescription(/required/)
  for (const box of screen.getAllByRole('textbox').slice(0, INHERITED.length)) {
    expect(box).toHaveValue('')
    await user.type(box, 'x')
  }
  await user.type(screen.getAllByLabelText('Constructor').at(-1) as HTMLElement, '9007199254740993')
  await user.click(run())
  expect(seen.sent).toEqual([
    {
      ...Object.fromEntries(INHERITED.map((name) => [name, 'x'])),
      deep: { constructor: 9007199254740993n },
    },
  ])
})

test('what is named __proto__ is kept, though no field shows it', async () => {
  const start = JSON.parse('{"text":"a","__proto__":{"b":1},"deep":{"__proto__":2}}')
  const schema = JSON.parse(
    '{"type":"object","properties":{"text":{"type":"string"},"__proto__":{"type":"object"},"deep":{"type":"object","properties":{"n":{"type":"string"}}}}}',
  )
  const form_spec = { fields: [{ path: '/__proto__', label: 'x' }] }
  const { seen, user } = show(schema, { start, form_spec })
  await user.type(screen.getByLabelText('Text'), 'b')
  await user.type(screen.getByLabelText('N'), 'c')
  await user.click(run())
  expect(JSON.stringify(seen.sent[0])).toBe(
    '{"text":"ab","__proto__":{"b":1},"deep":{"__proto__":2,"n":"c"}}',
  )
  expect('ui:title' in {}).toBe(false)
})

test('a large number stands in the field and in the text digit by digit', async () => {
  const schema = object({ id: { type: 'integer' }, on: { type: 'boolean' } })
  const { seen, user } = show(schema, { start: { id: 9007199254740993n } })
  expect(screen.getByLabelText('ID')).toHaveValue('9007199254740993')
  await user.click(screen.getByLabelText('On'))
  await user.click(screen.getByRole('button', { name: 'JSON' }))
  expect((await screen.findByRole('textbox')).textContent).toContain('"id": 9007199254740993')
  await user.click(run())
  expect(seen.sent).toEqual([{ id: 9007199254740993n, on: true }])
})

test('a form that cannot be sent shows its empty fields to those who want to know them', () => {
  const group = object({ inner: { type: 'string' } }, ['inner'])
  const schema = object({ text: { type: 'string', description: 'What to say' }, group }, ['text'])
  show(schema, { readOnly: true, start: {} })
  expect(screen.getByLabelText('Text')).toHaveAttribute('readonly')
  expect(screen.getByLabelText('Inner')).toHaveAttribute('readonly')
  expect(screen.getByText('What to say')).toBeInTheDocument()
  expect(screen.queryByRole('button', { name: 'Run' })).not.toBeInTheDocument()
})

test('what a form starts with is told apart from what is typed', async () => {
  const onChange = vi.fn()
  const tool = { slug: 'a', input_schema: object({ n: { type: 'integer', default: 1 } }) }
  const { rerender } = render(<ToolForm tool={tool} value={{}} onChange={onChange} />)
  expect(onChange).toHaveBeenLastCalledWith({ n: 1 }, false)
  rerender(<ToolForm tool={tool} value={{ n: 1 }} onChange={onChange} />)
  await userEvent.type(screen.getByLabelText('N'), '2')
  expect(onChange).toHaveBeenLastCalledWith({ n: 12 }, true)
})

test('Ctrl with Enter runs the tool from wherever the cursor is, and types nothing', async () => {
  const { seen, user } = show(object({ text: { type: 'string', 'x-variant': 'textarea' } }))
  const text = screen.getByLabelText('Text')
  await user.type(text, 'line{Control>}{Enter}{/Control}')
  await waitFor(() => expect(seen.sent).toEqual([{ text: 'line' }]))
  expect(text).toHaveFocus()
  expect(run()).toHaveAttribute('aria-keyshortcuts', 'Control+Enter Meta+Enter')
  expect(screen.getByText('Ctrl + Enter')).toBeInTheDocument()
})

test('⌘ with Enter takes along what a control takes over when it is left', async () => {
  const tags = { type: 'array', items: { type: 'string' }, 'x-variant': 'tags' }
  const { seen, user } = show(object({ tags }))
  await user.type(screen.getByRole('textbox', { name: 'Tags' }), 'new{Meta>}{Enter}{/Meta}')
  await waitFor(() => expect(seen.sent).toEqual([{ tags: ['new'] }]))
})

test('Ctrl with Enter says what is wrong, as the button does', async () => {
  const { seen, user } = show(object({ a: { type: 'string' }, b: { type: 'string' } }, ['a', 'b']))
  await user.type(screen.getByLabelText('B'), 'b{Control>}{Enter}{/Control}')
  await waitFor(() => expect(screen.getByLabelText('A')).toHaveFocus())
  expect(screen.getByLabelText('A')).toBeInvalid()
  expect(seen.sent).toEqual([])
})

test('a value that is given while the form begins is not written over by its defaults', async () => {
  const schema = object({ name: { type: 'string' }, years: { type: 'integer', default: 3 } })
  let value: unknown
  let give: (value: unknown) => void = () => {}
  function Late() {
    const [held, setHeld] = useState<unknown>({})
    value = held
    give = setHeld
    return (
      <ToolForm tool={{ slug: 'a.tool', input_schema: schema }} value={held} onChange={setHeld} />
    )
  }
  const place = document.body.appendChild(document.createElement('div'))
  const root = createRoot(place)
  // As in a browser, effects run once there is time for them; an example may be chosen before that.
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', false)
  const drawn = new MutationObserver(() => {
    drawn.disconnect()
    give({ name: 'Ada' })
  })
  drawn.observe(place, { childList: true, subtree: true })
  root.render(<Late />)
  await expect.poll(() => value).toEqual({ name: 'Ada', years: 3 })
  root.unmount()
  place.remove()
  vi.unstubAllGlobals()
})
