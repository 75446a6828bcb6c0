import { act, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

import type { Tool } from '../../types'
import { BLANK } from '../definition'
import { renderInEditor } from '../in-editor'
import { PairRows } from './pair-rows'

const SAVED = { implementation_type: 'http', implementation: { query: { a: '1' } } }

test('a second row of one name is kept when the tab changes, and is not said to be saved', async () => {
  const user = userEvent.setup()
  const { now, show } = renderInEditor(<PairRows name="query" />, SAVED)
  await user.click(screen.getByRole('button', { name: 'Add a parameter' }))
  expect(now().isDirty).toBe(false)
  await user.type(screen.getByLabelText('Name of parameter 2'), 'a')
  await user.type(screen.getByLabelText('Value of parameter 2'), '2')
  expect(now().definition.implementation).toEqual({ query: { a: '1' } })
  expect(now().isDirty).toBe(true)
  show(null)
  show(<PairRows name="query" />)
  expect(screen.getByLabelText('Value of parameter 2')).toHaveValue('2')
  expect(screen.getByLabelText('Value of parameter 2')).toBeInvalid()
  await act(() => now().save(false))
  expect(now().faults.map(({ path }) => path)).toEqual(['/implementation/query'])
  await user.type(screen.getByLabelText('Name of parameter 2'), 'b')
  expect(now().unread).toEqual({})
  expect(now().definition.implementation).toEqual({ query: { a: '1', ab: '2' } })
})

test('a row without a name is not part of the definition', async () => {
  const user = userEvent.setup()
  const { now } = renderInEditor(<PairRows name="query" />, SAVED)
  await user.click(screen.getByRole('button', { name: 'Add a parameter' }))
  await user.type(screen.getByLabelText('Value of parameter 2'), 'x')
  expect(now().definition.implementation).toEqual({ query: { a: '1' } })
  expect(screen.getByLabelText('Value of parameter 2')).toBeInvalid()
  // What somebody else saved takes the place of everything typed.
  act(() => now().reset({ ...BLANK, ...SAVED } as unknown as Tool))
  expect(screen.queryByLabelText('Value of parameter 2')).toBeNull()
})
