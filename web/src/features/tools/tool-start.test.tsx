import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, renderHook, waitFor } from '@testing-library/react'
import type { ReactNode } from 'react'

// The client takes hold of `fetch` when it is made.
const server = vi.fn<(request: Request | string) => Promise<Response>>()
vi.stubGlobal('fetch', server)
const { useStart } = await import('./tool-start')
const { useLiveText } = await import('~/features/result/live-text')

const ANSWER = { run_id: 'r', session_id: 's', tool: 'a', version: '1.0.0', status: 'success' }
const answer = (status: number, body: unknown) => new Response(JSON.stringify(body), { status })

function Around({ children }: { children: ReactNode }) {
  return <QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>
}

const keys = () =>
  server.mock.calls.map(([request]) => (request as Request).headers.get('idempotency-key'))

beforeEach(() => server.mockReset())

test('a second press while the first is on its way does nothing', async () => {
  const started = vi.fn()
  let respond: (response: Response) => void = () => undefined
  server.mockReturnValue(new Promise((done) => (respond = done)))
  const { result } = renderHook(() => useStart('a', started), { wrapper: Around })
  act(() => {
    void result.current.run({})
    void result.current.run({})
  })
  await waitFor(() => expect(result.current.start.state).toBe('asking'))
  await act(async () => respond(answer(200, ANSWER)))
  await waitFor(() => expect(started).toHaveBeenCalledTimes(1))
  expect(server).toHaveBeenCalledTimes(1)
  expect(result.current.start).toEqual({ state: 'idle' })
})

test('a server that is away is asked again under the same key, the next press has another', async () => {
  const started = vi.fn()
  server.mockRejectedValueOnce(new TypeError('Failed to fetch'))
  server.mockResolvedValueOnce(answer(503, { code: 'SHUTTING_DOWN', detail: 'soon' }))
  server.mockImplementation(async () => answer(200, ANSWER))
  const { result } = renderHook(() => useStart('a', started), { wrapper: Around })
  await act(async () => void result.current.run({ text: 'x' }))
  await waitFor(() => expect(result.current.start.state).toBe('lost'))
  await waitFor(() => expect(started).toHaveBeenCalledTimes(1), { timeout: 5_000 })
  await act(async () => result.current.run({ text: 'x' }))
  const [first, second, third, other] = keys()
  expect([second, third]).toEqual([first, first])
  expect(other).not.toBe(first)
})

test('a refusal is told and not asked again', async () => {
  const faults = [{ path: '/text', message: 'is required' }]
  server.mockResolvedValue(answer(422, { code: 'MISSING_PARAM', detail: 'no', errors: faults }))
  const { result } = renderHook(() => useStart('a', vi.fn()), { wrapper: Around })
  await act(async () => result.current.run({}))
  expect(result.current.start).toMatchObject({ state: 'idle', error: { errors: faults } })
  expect(server).toHaveBeenCalledTimes(1)
  act(() => result.current.forget())
  expect(result.current.start.error).toBeUndefined()
})

test('a large number comes to the server and back digit by digit', async () => {
  const started = vi.fn()
  const text = JSON.stringify(ANSWER).replace('}', ',"output":9007199254740993}')
  server.mockResolvedValue(new Response(text))
  const { result } = renderHook(() => useStart('a', started), { wrapper: Around })
  await act(async () => result.current.run({ id: 18446744073709551615n }))
  const [[request]] = server.mock.calls as [[Request]]
  expect(await request.text()).toContain('{"id":18446744073709551615}')
  const input = { id: 18446744073709551615n }
  expect(started).toHaveBeenCalledWith({ ...ANSWER, output: 9007199254740993n }, input)
})

test('what a run writes is put together, and other runs of the session are left out', async () => {
  const event = (type: string, run_id: string, text: string) =>
    `event: ${type}\ndata: ${JSON.stringify({ run_id, payload: { text } })}\n\n`
  const stream =
    event('tool.started', 'r', '') +
    event('tool.output_appended', 'r', 'one ') +
    event('tool.output_appended', 'other', 'no ') +
    event('tool.output_appended', 'r', 'two')
  server.mockImplementation(async () => new Response(stream))
  const run = { run_id: 'r', session_id: 's' }
  const { result, unmount } = renderHook(() => useLiveText(run), { wrapper: Around })
  await waitFor(() => expect(result.current).toBe('one two'))
  expect(server.mock.calls[0]?.[0]).toBe('/api/sessions/s/events/stream')
  unmount()
})
