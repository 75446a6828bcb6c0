import { act, renderHook, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

import { toolOf } from '../../queries'
import { renderInEditor } from '../in-editor'
import { useSettled } from './callees'
import CompositionPanel from './composition'
import { catalogue, lastOutput } from './queries'
import { sourcesAt } from './steps'

const CALLEE = {
  slug: 'weather',
  name: 'Weather',
  input_schema: {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'Where it is.' },
      days: { type: 'integer' },
      where: { type: 'object' },
    },
    required: ['city'],
  },
  output_schema: { type: 'object', properties: { degrees: {} } },
}

function chain(steps: object[], more: object = {}) {
  const saved = {
    implementation_type: 'composition',
    input_schema: { type: 'object', properties: { town: {} } },
    execution_spec: { kind: 'composition', steps, ...more },
  }
  const { client } = renderInEditor(null, {})
  const items = [{ slug: 'mine', name: 'Mine' }, CALLEE]
  for (const typed of ['', 'weather'])
    client.setQueryData(catalogue(typed).queryKey, items as never)
  client.setQueryData(toolOf('weather').queryKey, CALLEE as never)
  client.setQueryData(lastOutput('weather').queryKey, null)
  const { now } = renderInEditor(<CompositionPanel />, saved)
  const steps_ = () => now().definition.execution_spec?.steps as Record<string, unknown>[]
  return { now, input: (index = 0) => steps_()[index]?.input, step: (index = 0) => steps_()[index] }
}

const card = (number: number) => within(screen.getByRole('group', { name: `Step ${number}` }))

test('the input of a step is a row for each input of its tool, and types are kept', async () => {
  const user = userEvent.setup()
  const extra = { n: 10, deep: { a: ['{{ input.town }}'] }, flag: '5' }
  const { input, now } = chain([{ id: 'one', tool: 'weather', input: extra }])
  const city = card(1).getByRole('textbox', { name: 'city' })
  expect(city).toBeRequired()
  expect(city).toHaveAccessibleDescription('Where it is.')
  // Nothing changes by being shown.
  expect(now().isDirty).toBe(false)
  await user.type(city, 'Graz 8010')
  await user.type(card(1).getByLabelText('days'), '3')
  const number = card(1).getByLabelText('n')
  await user.clear(number)
  await user.type(number, '11')
  await user.type(card(1).getByLabelText('flag'), '6')
  expect(input()).toEqual({ ...extra, n: 11, flag: '56', city: 'Graz 8010', days: 3 })
  await user.clear(city)
  expect(input()).not.toHaveProperty('city')
  await user.click(card(1).getByRole('button', { name: 'Remove flag' }))
  expect(input()).toEqual({ n: 11, deep: extra.deep, days: 3 })
})

test('JSON in a row that is half typed is kept, and keeps the chain from being saved', async () => {
  const user = userEvent.setup()
  const { input, now } = chain([{ id: 'one', tool: 'weather', input: { where: { a: 1 } } }])
  const where = card(1).getByLabelText('where')
  await user.type(where, '{Backspace}')
  expect(where).toHaveValue('{"a":1')
  expect(now().unread['/execution_spec/steps/0/input/where']?.text).toBe('{"a":1')
  await user.click(card(1).getByRole('button', { name: 'Edit as JSON: Input' }))
  expect(card(1).getByRole('alert')).toHaveTextContent('Fix the errors here before')
  await user.type(where, ',"b":2}')
  expect(now().unread).toEqual({})
  expect(input()).toEqual({ where: { a: 1, b: 2 } })
})

test('an expression is inserted by keyboard, where the cursor is', async () => {
  const user = userEvent.setup()
  const step = { id: 'one', tool: 'weather', input: { city: 'x' } }
  const { input } = chain([step, { id: 'two', tool: 'weather', input: {} }])
  const city = card(2).getByRole('textbox', { name: 'city' })
  await user.type(city, 'in ')
  card(2).getByRole('button', { name: 'Insert a value into city' }).focus()
  await user.keyboard('{Enter}')
  const items = await screen.findAllByRole('menuitem')
  expect(items.map(({ textContent }) => textContent)).toEqual([
    '{{ input.town }}',
    '{{ steps.one.output }}',
    '{{ steps.one.output.degrees }}',
  ])
  await user.keyboard('{End}{Enter}')
  expect(input(1)).toEqual({ city: 'in {{ steps.one.output.degrees }}' })
  await vi.waitFor(() => expect(city).toHaveFocus())
})

test('what rows cannot show is written as JSON', () => {
  chain([{ id: 'one', tool: 'weather', input: '{{ input.town }}' }])
  expect(card(1).queryByLabelText('city')).toBeNull()
  expect(card(1).queryByRole('button', { name: /^Edit as JSON/ })).toBeNull()
})

test('an output without any value is none, so that the last step’s is taken', async () => {
  const user = userEvent.setup()
  const { now } = chain([], { output: { said: 'x' } })
  act(() => now().change('output_schema', { type: 'object', properties: { said: {} } }))
  await user.click(screen.getByRole('button', { name: 'Edit as JSON: Output' }))
  await user.click(screen.getByRole('button', { name: 'Edit as JSON: Output' }))
  await user.clear(screen.getByLabelText('said'))
  expect(now().definition.execution_spec).not.toHaveProperty('output')
})

test('a fallback that is not asked for keeps nothing from being saved, and is there again', async () => {
  const user = userEvent.setup()
  const path = '/execution_spec/steps/0/fallback'
  const fallback = { on_error: 'fallback', fallback: { a: 1 } }
  const { now, step } = chain([{ id: 'one', tool: 'weather', input: {}, ...fallback }])
  const choice = card(1).getByLabelText('If it fails')
  act(() => now().keepUnread(path, { why: 'is not JSON', text: '{"a": ' }))
  await user.selectOptions(choice, 'stop')
  expect(now().unread).toEqual({})
  expect(step()).toEqual({ id: 'one', tool: 'weather', input: {} })
  await user.selectOptions(choice, 'continue')
  await user.selectOptions(choice, 'fallback')
  expect(step()).toMatchObject(fallback)
  expect(now().unread[path]?.text).toBe('{"a": ')
})

test('a tool is not offered to itself', () => {
  chain([{ id: 'one', tool: '', input: {} }])
  const options = document.querySelectorAll('datalist option')
  expect([...options].map((option) => option.getAttribute('value'))).toEqual(['weather'])
})

test('what is typed counts once somebody pauses', () => {
  vi.useFakeTimers()
  const { result, rerender } = renderHook(({ text }) => useSettled(text), {
    initialProps: { text: '' },
  })
  for (const text of ['w', 'we', 'wea']) {
    rerender({ text })
    act(() => void vi.advanceTimersByTime(100))
  }
  expect(result.current).toBe('')
  act(() => void vi.advanceTimersByTime(300))
  expect(result.current).toBe('wea')
  vi.useRealTimers()
})

test('names that are no words are told in brackets, and fields are offered down to the last', () => {
  const schema = { properties: { 'a b': {}, c: { properties: { d: {} } } } }
  const outputOf = () => ({ schema, example: { c: { d: 7 } } })
  const input = { properties: { x: {} } }
  expect(sourcesAt(input, [{ id: 'one' }, {}], outputOf)).toEqual([
    { expressions: [{ text: '{{ input.x }}' }] },
    {
      step: 'one',
      expressions: [
        { text: '{{ steps.one.output }}' },
        { text: '{{ steps.one.output["a b"] }}' },
        { text: '{{ steps.one.output.c }}', example: { d: 7 } },
        { text: '{{ steps.one.output.c.d }}', example: 7 },
      ],
    },
  ])
  expect(sourcesAt({}, [], () => ({}))).toEqual([])
})

test('a condition takes an expression without braces', async () => {
  const user = userEvent.setup()
  const { step } = chain([{ id: 'one', tool: 'weather', input: {} }])
  card(1).getByRole('button', { name: 'Insert a value into the condition' }).focus()
  await user.keyboard('{Enter}')
  await user.click(await screen.findByRole('menuitem', { name: 'input.town' }))
  expect(step()?.when).toBe('input.town')
})

test('the picture leads to a step, and says where its values come from', async () => {
  const user = userEvent.setup()
  chain([
    { id: 'one', tool: 'weather', input: { city: '{{ input.town }}' } },
    { id: 'two', tool: 'weather', input: {}, when: 'steps.one.output.degrees > 3' },
  ])
  const list = within(screen.getByRole('list', { name: 'Overview' }))
  expect(list.getAllByRole('listitem')).toHaveLength(4)
  const two = list.getByRole('button', { name: /^2 ?two weather/ })
  expect(two).toHaveAccessibleName(/Uses values of: one/)
  await user.click(two)
  expect(screen.getByRole('group', { name: 'Step 2' })).toHaveFocus()
})
