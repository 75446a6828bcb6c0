import { render, screen } from '@testing-library/react'

import { Problem } from '~/api/problem'
import { Fault } from './states'

const server = vi.fn<() => Promise<Response>>()

beforeEach(() => {
  vi.useFakeTimers()
  server.mockReset()
  server.mockRejectedValue(new TypeError('Failed to fetch'))
  vi.stubGlobal('fetch', server)
})

afterEach(() => vi.useRealTimers())

const comesBack = () =>
  server.mockImplementation(async () => new Response('<script src="/assets/index-a.js"></script>'))
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('a page that could not reach the server goes on once it answers, without a click', async () => {
  const retry = vi.fn()
  render(<Fault error={Problem.unreachable(new TypeError())} onRetry={retry} />)
  await pass(1_000)
  expect(server).toHaveBeenCalledTimes(1)
  await pass(1_000)
  expect(server).toHaveBeenCalledTimes(1)
  await pass(1_000)
  expect(server).toHaveBeenCalledTimes(2)
  expect(retry).not.toHaveBeenCalled()
  comesBack()
  await pass(4_000)
  expect(retry).toHaveBeenCalledTimes(1)
  await pass(120_000)
  expect(retry).toHaveBeenCalledTimes(1)
})

test.each(['focus', 'online'])('it is asked at once on %s', async (event) => {
  const retry = vi.fn()
  render(<Fault error={Problem.unreachable(new TypeError())} onRetry={retry} />)
  await pass(60_000)
  comesBack()
  dispatchEvent(new Event(event))
  await pass(0)
  expect(retry).toHaveBeenCalledTimes(1)
})

test('what the server has refused is not asked again', async () => {
  render(<Fault error={new Problem(403, 'NOT_PERMITTED', 'no')} onRetry={vi.fn()} />)
  await pass(60_000)
  expect(server).not.toHaveBeenCalled()
  expect(screen.getByRole('button', { name: 'Try again' })).toBeInTheDocument()
})
