import { act, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

const RUN = { run_id: 'r', status: 'success', tool: 'mine', output: { score: 7 }, duration_ms: 1 }
vi.stubGlobal('fetch', async () => Response.json(RUN))
const { renderInEditor } = await import('./in-editor')
const { TestPanel } = await import('./test-panel')

const LATE = { timeout: 20_000 }

test('what is tried is laid out as it is typed, not as it was saved', async () => {
  const section = (label: string) => [{ key: 'score', label, type: 'summary' }]
  const properties = (title: string) => ({
    type: 'object',
    properties: { city: { type: 'string', title } },
  })
  const { now } = renderInEditor(<TestPanel />, {
    input_schema: properties('Saved city'),
    output_sections: section('Saved label'),
  })
  expect(await screen.findByLabelText('Saved city', {}, LATE)).toBeInTheDocument()
  act(() => {
    now().change('input_schema', properties('Typed city'))
    now().change('output_sections', section('Typed label'))
  })
  expect(await screen.findByLabelText('Typed city', {}, LATE)).toBeInTheDocument()
  await userEvent.click(screen.getByRole('button', { name: 'Test' }))
  expect(await screen.findByText('Typed label', {}, LATE)).toBeInTheDocument()
  expect(screen.queryByText('Saved label')).toBeNull()
}, 60_000)
