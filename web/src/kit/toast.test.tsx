import { act, render, screen } from '@testing-library/react'

import { Toasts, toast } from './toast'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const pass = (ms: number) => act(() => vi.advanceTimersByTime(ms))

test('a message goes after some seconds, one that can be acted on stays longer', () => {
  render(<Toasts />)
  act(() => {
    toast('It is saved')
    toast('It is hidden', 'good', { label: 'Undo', run: () => undefined })
  })
  pass(5_000)
  expect(screen.getByText('It is saved')).toBeInTheDocument()
  pass(2_000)
  expect(screen.queryByText('It is saved')).toBeNull()
  expect(screen.getByRole('button', { name: 'Undo' })).toBeInTheDocument()
  pass(20_000)
  expect(screen.queryByText('It is hidden')).toBeNull()
})
