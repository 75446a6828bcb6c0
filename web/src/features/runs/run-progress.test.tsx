import { render, screen } from '@testing-library/react'

import type { RunEvent } from './queries'
import { RunProgress } from './run-progress'

const event = (type: string, payload: Record<string, unknown>) =>
  ({ id: type, type, payload }) as unknown as RunEvent

test('newest report is shown, with or without an end', () => {
  const first = event('tool.progress', { progress: 1, total: 4 })
  const { rerender } = render(<RunProgress events={[first]} />)
  expect(screen.getByText('1 of 4')).toBeVisible()
  const second = event('tool.progress', { progress: 3, total: 4, message: 'digging' })
  rerender(<RunProgress events={[first, second, event('tool.output_appended', { text: 'x' })]} />)
  expect(screen.getByText('3 of 4: digging')).toBeVisible()
  expect(screen.getByRole('progressbar', { name: 'Progress' })).toHaveAttribute('value', '3')
  rerender(<RunProgress events={[event('tool.progress', { progress: 1200 })]} />)
  expect(screen.getByText('1,200')).toBeVisible()
  expect(screen.getByRole('progressbar')).not.toHaveAttribute('value')
  rerender(<RunProgress events={[]} />)
  expect(screen.queryByRole('progressbar')).toBeNull()
})
