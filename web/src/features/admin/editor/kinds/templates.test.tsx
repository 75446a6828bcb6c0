import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

import { renderInEditor } from '../in-editor'
import FunctionPanel from './function'
import InternalPanel from './internal'
import { builtins, functions } from './queries'
import { type Template, toldBy } from './templates'

const template = (key: string, gives?: string): Template => ({
  key,
  name: key.toUpperCase(),
  description: `Does ${key}.`,
  input_schema: { type: 'object', properties: { [key]: { type: 'string' } } },
  output_schema: gives ? { type: 'object', properties: { [gives]: {} } } : null,
})
const [A, B] = [template('a', 'x'), template('b')]
const BLANK = { input_schema: { type: 'object' }, output_schema: null, description: '' }

test('a template tells what nobody has told, and what another one told', () => {
  const told = toldBy(A, BLANK, [A, B])
  const { key: _, name: __, ...all } = A
  expect(told).toEqual(all)
  expect(toldBy(B, { ...BLANK, ...told }, [A, B])).toEqual({
    input_schema: B.input_schema,
    output_schema: null,
    description: 'Does b.',
  })
})

test('what a person wrote stays', () => {
  const own = { type: 'object', properties: { mine: {} } }
  const told = { input_schema: own, output_schema: A.output_schema, description: 'Mine.' }
  expect(toldBy(B, told, [A, B])).toEqual({})
  const described = { ...A, description: 'Mine.' }
  expect(toldBy(B, described, [A, B])).toEqual({
    input_schema: B.input_schema,
    output_schema: null,
  })
  expect(toldBy(B, { ...BLANK, output_schema: own }, [A, B])).toEqual({
    input_schema: B.input_schema,
    description: 'Does b.',
  })
})

test('another built-in brings its own form, unless somebody changed the first one', async () => {
  const { client, now } = renderInEditor(null, {})
  client.setQueryData(builtins.queryKey, [A, B])
  const user = userEvent.setup()
  const { now: editing } = renderInEditor(<InternalPanel />, {})
  await user.selectOptions(screen.getByLabelText('Built-in'), 'a')
  await user.selectOptions(screen.getByLabelText('Built-in'), 'b')
  expect(editing().definition).toMatchObject({
    implementation: { builtin_key: 'b' },
    input_schema: B.input_schema,
    output_schema: null,
    description: 'Does b.',
  })
  expect(screen.queryByRole('button', { name: 'Use the schema of the built-in' })).toBeNull()
  expect(now().definition.input_schema).not.toEqual(B.input_schema)
})

test('a form of one’s own gives way at a press', async () => {
  const own = { type: 'object', properties: { mine: {} } }
  const { now } = renderInEditor(<InternalPanel />, { input_schema: own, description: 'Mine.' })
  const user = userEvent.setup()
  await user.selectOptions(screen.getByLabelText('Built-in'), 'a')
  expect(now().definition.input_schema).toEqual(own)
  await user.click(screen.getByRole('button', { name: 'Use the schema of the built-in' }))
  expect(now().definition).toMatchObject({
    input_schema: A.input_schema,
    output_schema: A.output_schema,
    description: 'Mine.',
  })
  expect(screen.queryByRole('button', { name: 'Use the schema of the built-in' })).toBeNull()
  await vi.waitFor(() => expect(screen.getByLabelText('Built-in')).toHaveFocus())
})

test('a function is chosen, and brings its form, also in place of that of a built-in', async () => {
  const { now, client } = renderInEditor(null, {
    input_schema: A.input_schema,
    output_schema: A.output_schema,
  })
  client.setQueryData(functions.queryKey, [template('median', 'result')])
  const saved = { ...now().definition, implementation_type: 'function' }
  const { now: editing } = renderInEditor(<FunctionPanel />, saved)
  const box = screen.getByRole('combobox', { name: 'Function' })
  await userEvent.selectOptions(box, 'MEDIAN (median)')
  expect(editing().definition).toMatchObject({
    implementation: { function_name: 'median' },
    input_schema: { properties: { median: {} } },
    output_schema: { properties: { result: {} } },
  })
})
