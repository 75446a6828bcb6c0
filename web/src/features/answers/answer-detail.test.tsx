import { QueryClient } from '@tanstack/react-query'
import { screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

import type { Asked } from './answer-queries'

// The client takes hold of `fetch` when it is made.
const server = vi.fn<(request: Request) => Promise<Response>>()
vi.stubGlobal('fetch', server)
const { ME, showPage, signIn } = await import('~/test-page')
const { AnswerDetail } = await import('./answer-detail')
const { AnswersList } = await import('./answers-list')

const OTHER = '0193a000-0000-7000-8000-00000000000b'
const TOOL = {
  slug: 'ask',
  name: 'Ask somebody',
  description: 'Asks a person about a city.',
  version: '1.0.0',
  has_draft: false,
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
  form_spec: null,
}
const CALL: Asked = {
  id: 'c-1',
  run_id: 'r-1',
  tool: 'ask',
  version: '1.0.0',
  mode: 'production',
  input: { city: 'Graz' },
  waits_for: 'person',
  status: 'waiting',
  late: false,
  requested_by: `user:${OTHER}`,
  requested_at: '2026-11-16T00:00:00Z',
  expires_at: '2999-11-16T00:00:00Z',
}

const asked = () => server.mock.calls.map(([request]) => new URL(request.url).pathname)

async function show(call: Asked, permissions = ['tools.tenant.run', 'runs.own.read']) {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  signIn(queries, permissions)
  await showPage(queries, <AnswerDetail call={call} />)
}

beforeEach(() => {
  sessionStorage.clear()
  server.mockReset()
  server.mockImplementation(async ({ url }) => {
    const { pathname } = new URL(url)
    if (pathname === '/api/tools/ask') return Response.json(TOOL)
    if (pathname === '/api/pending-calls') return Response.json({ items: [] })
    return Response.json({ code: 'NOT_FOUND', detail: 'there is no such run' }, { status: 404 })
  })
})

test('whoever may not read the run reads what is asked in the form of the tool', async () => {
  await show(CALL)
  await screen.findByRole('heading', { level: 1, name: /^Ask somebody/ })
  expect(screen.getByText('Asks a person about a city.')).toBeInTheDocument()
  expect(await screen.findByText('City')).toBeInTheDocument()
  expect(screen.getByText('Graz')).toBeInTheDocument()
  expect(screen.queryByRole('link', { name: 'Open the run' })).toBeNull()
  expect(asked().filter((path) => path.startsWith('/api/runs'))).toEqual([])
}, 30_000)

test.each([
  ['their own', ['tools.tenant.run', 'runs.own.read'], ME],
  ['anybody’s', ['tools.tenant.run', 'runs.tenant.read'], OTHER],
])(
  'whoever may read a run because it is %s finds the way to it',
  async (_, permissions, caller) => {
    await show({ ...CALL, requested_by: `user:${caller}` }, permissions)
    expect(await screen.findByRole('link', { name: 'Open the run' })).toHaveAttribute(
      'href',
      '/runs/r-1',
    )
  },
)

test('what was answered is shown, also to whom the run is shut', async () => {
  const done = { ...CALL, status: 'resolved', answered_by: `user:${ME}` }
  await show({ ...done, result: { verdict: 'Lovely town' } })
  const outcome = await screen.findByRole('region', { name: 'You answered this' })
  await waitFor(() => expect(outcome).toHaveTextContent('Lovely town'))
})

test('that there is no answer is shown in the words of whoever said so', async () => {
  const done = { ...CALL, status: 'resolved', answered_by: `user:${ME}` }
  await show({ ...done, result: { error: 'Nobody is in Graz.' } })
  const outcome = await screen.findByRole('region', { name: 'You answered this' })
  expect(outcome).toHaveTextContent(/Nobody is in Graz\.$/)
})

test('why there is no answer is kept when the question is closed', async () => {
  const user = userEvent.setup()
  await show(CALL)
  await user.click(await screen.findByRole('button', { name: 'Decline' }))
  await user.type(screen.getByLabelText('Reason'), 'Nobody is here')
  await user.keyboard('{Escape}')
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  await user.click(screen.getByRole('button', { name: 'Decline' }))
  expect(screen.getByLabelText('Reason')).toHaveDisplayValue('Nobody is here')
}, 30_000)

test.each([
  ['waits', { status: 'waiting', late: false }, 0],
  ['never waited, since the call is asynchronous', { status: 'pending', late: false }, 0],
  ['has given up', { status: 'pending', late: true }, 1],
])('a caller who %s is told of like that', async (_, state, count) => {
  const call = { ...CALL, ...state }
  const both = (
    <>
      <AnswersList calls={[call]} box={{ current: null }} />
      <AnswerDetail call={call} />
    </>
  )
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  signIn(queries, ['tools.tenant.run'])
  await showPage(queries, both)
  await screen.findByRole('heading', { level: 1 })
  expect(screen.queryAllByText('Caller stopped waiting')).toHaveLength(count)
  expect(screen.queryAllByText(/The caller has stopped waiting/)).toHaveLength(count)
})
