import { act, renderHook, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

import { Problem } from '~/api/problem'
import { EditingContext, type Editing, useEditing } from './context'
import { Faults } from './faults'
import { DurationInput } from './duration-input'
import { NumberInput, readWhole } from './parts'
import { renderInEditor } from './in-editor'
import type { Tool } from '../types'
import { BLANK, inOrderOfPage } from './definition'
import { useEditor } from './use-editor'

const editorOf = (saved: object = {}) => {
  const tool = { ...BLANK, slug: 'a', ...saved } as unknown as Tool
  return renderHook(() => useEditor({ tool, words: (fault) => fault.message, onSaved: vi.fn() }))
    .result
}

test('what is half typed for a kind is there again for whoever comes back to it', () => {
  const editor = editorOf({ implementation_type: 'http' })
  const half = { why: 'is not JSON', text: '{"a": ' }
  act(() => editor.current.keepUnread('/implementation/body', half))
  act(() => editor.current.keepUnread('/form_spec', half))
  act(() => editor.current.changeKind('external'))
  expect(editor.current.unread).toEqual({ '/form_spec': half })
  act(() => editor.current.changeKind('http'))
  expect(editor.current.unread).toEqual({ '/form_spec': half, '/implementation/body': half })
})

test('a tool that somebody answers is given a day, unless somebody chose another time', () => {
  const fresh = editorOf()
  act(() => fresh.current.changeKind('space'))
  expect(fresh.current.definition.timeout_ms).toBe(86_400_000)
  act(() => fresh.current.changeKind('external'))
  act(() => fresh.current.changeKind('http'))
  expect(fresh.current.definition.timeout_ms).toBe(30_000)
  const chosen = editorOf({ timeout_ms: 5_000 })
  act(() => chosen.current.changeKind('space'))
  expect(chosen.current.definition.timeout_ms).toBe(5_000)
  const long = editorOf({ timeout_ms: 86_400_000, implementation_type: 'space' })
  act(() => long.current.changeKind('http'))
  expect(long.current.definition.timeout_ms).toBe(86_400_000)
})

test('the first fault is the first on the page', () => {
  const paths = ['/timeout_ms', '/slug', '/what', '/description', '/name', '/input_schema/type']
  const sorted = inOrderOfPage(paths.map((path) => ({ path })))
  expect(sorted.map(({ path }) => path)).toEqual([
    '/name',
    '/slug',
    '/description',
    '/input_schema/type',
    '/timeout_ms',
    '/what',
  ])
})

test('a refusal whose faults are all mended says nothing any more', () => {
  const shown = (problem: Problem) => {
    const editing = { faults: [], problem } as unknown as Editing
    renderInEditor(
      <EditingContext value={editing}>
        <Faults search={{}} />
      </EditingContext>,
      {},
    )
    return screen.queryByRole('alert')
  }
  const faults = [{ path: '/slug', message: 'a slug has 1 to 128 characters, not 0' }]
  expect(shown(new Problem(422, 'INVALID_PARAMS', '`slug` a slug has …', faults))).toBeNull()
  const taken = [{ path: '/slug', code: 'taken', message: 'is taken' }]
  expect(shown(new Problem(409, 'CONFLICT', 'there is a tool `a` already', taken))).toBeNull()
  expect(shown(new Problem(403, 'NOT_PERMITTED', 'you may not call `b` yourself'))).not.toBeNull()
})

test('what is no number is told at once, stays as typed, and keeps the rest from being saved', async () => {
  const box = <NumberInput path="/timeout_ms" label="Time" value={5} onChange={vi.fn()} />
  const { now, show } = renderInEditor(box, {})
  await userEvent.type(screen.getByLabelText('Time'), 'e')
  expect(screen.getByLabelText('Time')).toHaveAccessibleDescription('Must be a whole number')
  expect(now().isDirty).toBe(true)
  show(null)
  show(box)
  expect(screen.getByLabelText('Time')).toHaveValue('5e')
  await act(() => now().save(false))
  expect(now().faults.map(({ path }) => path)).toEqual(['/timeout_ms'])
})

test.each([
  ['', null],
  [' 12 ', 12],
  ['-3', -3],
  ['12e', undefined],
  ['1.5', undefined],
  ['99999999999999999999', undefined],
])('%j is the whole number %s', (text, value) => {
  expect(readWhole(text)).toBe(value)
})

test('a new tool is of its kind from the start, has a slug by its name, and is not changed yet', () => {
  const made = renderHook(() =>
    useEditor({ kind: 'space', words: ({ message }) => message, onSaved: vi.fn() }),
  ).result
  expect(made.current.isDirty).toBe(false)
  expect(made.current.definition).toMatchObject({
    implementation_type: 'space',
    timeout_ms: 86_400_000,
  })
  act(() => made.current.change('name', 'Größe messen'))
  expect(made.current.definition.slug).toBe('groesse-messen')
  act(() => made.current.change('slug', 'size.measure'))
  act(() => made.current.change('name', 'Größe'))
  expect(made.current.definition.slug).toBe('size.measure')
  const saved = editorOf({ name: 'Old', slug: 'old' })
  act(() => saved.current.change('name', 'New name'))
  expect(saved.current.definition.slug).toBe('old')
})

test('a time is a number and a unit, and is kept in milliseconds', async () => {
  const user = userEvent.setup()
  const Box = () => {
    const { definition, change } = useEditing()
    return (
      <DurationInput
        path="/timeout_ms"
        label="Time"
        max={86_400_000}
        value={definition.timeout_ms}
        onChange={(ms) => change('timeout_ms', ms)}
      />
    )
  }
  const { now } = renderInEditor(<Box />, { timeout_ms: 120_000 })
  const [box, unit] = [screen.getByLabelText('Time'), screen.getByLabelText('Unit of “Time”')]
  expect(box).toHaveValue('2')
  expect(unit).toHaveDisplayValue('minutes')
  await user.selectOptions(unit, 'seconds')
  expect(now().definition.timeout_ms).toBe(2_000)
  await user.clear(box)
  await user.type(box, '60')
  // The unit stays as it was chosen.
  expect(unit).toHaveDisplayValue('seconds')
  expect(now().definition.timeout_ms).toBe(60_000)
  await user.type(box, 'x')
  expect(box).toHaveAccessibleDescription('Enter a number, such as 30 or 1.5')
  expect(Object.keys(now().unread)).toEqual(['/timeout_ms'])
  await user.type(box, '{Backspace}')
  await user.selectOptions(unit, 'days')
  expect(box).toHaveAccessibleDescription('Must be at most 1 day')
})
