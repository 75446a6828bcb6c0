import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

import sink from '../kitchen-sink.json'
import { ReadInput } from './read-input'

function show(properties: object, value: unknown, form_spec?: unknown) {
  const tool = { input_schema: { type: 'object', properties }, form_spec }
  return render(<ReadInput tool={tool} value={value} />)
}

/** What stands behind a name. */
function read(name: string) {
  const [term] = screen.getAllByText(name, { selector: 'dt' })
  const definition = term?.nextElementSibling
  if (!(definition instanceof HTMLElement)) throw new Error(`nothing stands behind ${name}`)
  return definition
}

test('values stand as text behind their names, and nothing can be typed', () => {
  const properties = {
    amount: { type: 'number', title: 'How much', 'x-unit': 'currency' },
    currency: { type: 'string' },
    urgent: { type: 'boolean' },
    size: { enum: ['s', 'm'], 'x-enum-labels': ['Small', 'Medium'] },
    rate: { type: 'number', 'x-unit': 'percent' },
    id: { type: 'integer' },
  }
  const value = {
    amount: 123456.789,
    currency: 'USD',
    urgent: false,
    size: 'm',
    rate: 2.5,
    id: 18446744073709551615n,
  }
  show(properties, value)
  expect(read('How much')).toHaveTextContent('123,456.789 USD')
  expect(read('Urgent')).toHaveTextContent('No')
  expect(read('Size')).toHaveTextContent('Medium')
  expect(read('Rate')).toHaveTextContent('2.5 %')
  expect(read('ID')).toHaveTextContent('18446744073709551615')
  expect(screen.queryByRole('textbox')).toBeNull()
  expect(screen.queryByRole('switch')).toBeNull()
})

test('what is empty is a dash, and what was not given is not there', () => {
  const text = { type: ['string', 'null'] }
  const headers = { type: 'object', additionalProperties: { type: 'string' } }
  show({ body: text, note: text, headers, other: text }, { body: null, note: '', headers: {} })
  for (const name of ['Body', 'Note', 'Headers']) expect(read(name)).toHaveTextContent('–Empty')
  expect(screen.queryByText('Other')).toBeNull()
})

test('what is long is cut, and can be seen as a whole', async () => {
  const lines = Array.from({ length: 30 }, (_, index) => ({ item: `thing ${index}` }))
  const items = { type: 'object', properties: { item: { type: 'string' } } }
  const text = `${'word '.repeat(200)}end`
  show({ text: { type: 'string' }, lines: { type: 'array', items } }, { text, lines })
  expect(read('Text')).not.toHaveTextContent(/end/)
  await userEvent.click(within(read('Text')).getByRole('button', { name: 'Show all' }))
  expect(read('Text')).toHaveTextContent(/end/)
  expect(screen.queryByText('thing 29')).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: 'Show all 30' }))
  expect(screen.getByText('thing 29')).toBeInTheDocument()
})

test('everything that was given is there, whatever would hide it in the form', () => {
  const value = { rush_fee: 9, kind: 'order', lines: [{ item: 'x', odd: 1 }], extra: 1, notes: 'n' }
  render(<ReadInput tool={sink} value={value} />)
  expect(read('Rush Fee')).toHaveTextContent('9')
  expect(read('Kind')).toHaveTextContent('order')
  expect(read('odd')).toHaveTextContent('1')
  expect(read('extra')).toHaveTextContent('1')
  expect(screen.queryByText('Full name')).toBeNull()
})

test('what a form spec calls a field it is called here, in the same order', () => {
  const fields = [
    { path: '/b', label: 'First' },
    { path: '/rows/*/c', label: 'Cell' },
  ]
  const items = { type: 'object', properties: { c: { type: 'string' } } }
  const properties = {
    a: { type: 'string' },
    b: { type: 'string' },
    rows: { type: 'array', items },
  }
  show(properties, { a: '1', b: '2', rows: [{ c: '3' }] }, { fields })
  const terms = screen.getAllByRole('term').map((term) => term.textContent)
  expect(terms).toEqual(['First', 'A', 'Rows', 'Cell'])
})

test('a place is called by its name, not by the branch that was chosen', () => {
  const card = { type: 'object', title: 'By card', properties: { number: { type: 'string' } } }
  show({ payment: { oneOf: [card, { type: 'null' }] } }, { payment: { number: '42' } })
  expect(read('Payment')).toHaveTextContent('Number42')
})

test('a secret is shown to those who want to see it, and what cannot be seen is spelled out', async () => {
  const password = { type: 'string', format: 'password' }
  show({ password, text: { type: 'string' } }, { password: 'hunter2', text: 'a\u202Eb' })
  expect(screen.queryByText('hunter2')).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: 'Show Password' }))
  expect(screen.getByText('hunter2')).toBeInTheDocument()
  expect(read('Text')).toHaveTextContent('a\\u{202E}b')
})

test('an object that may hold anything is read as JSON, and all of the input can be', async () => {
  show({ schema: { type: 'object' }, action: { type: 'string' } }, { schema: { a: { b: 1 } } })
  expect(read('Schema')).toHaveTextContent('{ "a": { "b": 1 } }')
  await userEvent.click(screen.getByRole('button', { name: 'JSON' }))
  expect(screen.getByLabelText('Input as JSON')).toHaveTextContent('"schema": {')
})

test('a tool that takes any object is not said to need none', () => {
  render(<ReadInput tool={{ input_schema: { type: 'object' } }} value={{ a: 1 }} />)
  expect(screen.getByLabelText('Input as JSON')).toHaveTextContent('"a": 1')
})
