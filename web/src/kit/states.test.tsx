import { QueryClient } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'

import { Problem } from '~/api/problem'
import { RunError } from '~/features/result/run-error'
import { loadTexts, speak } from '~/i18n'
import { showPage } from '~/test-page'
import { Fault } from './states'

beforeAll(async () => {
  await speak('de')
  await loadTexts(['server', 'result'])
})

afterAll(async () => {
  await speak('en')
})

test('a refusal is told in the language of the page', () => {
  const detail = 'there is no such thing: the path holds no id'
  render(<Fault error={new Problem(404, 'NOT_FOUND', detail, [], 'q-1')} />)
  expect(screen.getByRole('alert')).toHaveTextContent(/^Unter dieser Kennung gibt es hier nichts/)
})

test('what went wrong with a run is told in the language of the page, the words of a tool are not', async () => {
  await showPage(
    new QueryClient(),
    <>
      <RunError code="CANCELLED" text="the run was cancelled" wanted />
      <RunError code="TOOL_FAILED" text="no such city" />
    </>,
  )
  expect(screen.getByText(/^Der Lauf wurde abgebrochen, bevor/)).toBeInTheDocument()
  expect(screen.getByText('no such city')).toBeInTheDocument()
})
