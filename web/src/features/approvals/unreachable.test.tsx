import { QueryClientProvider, useQuery } from '@tanstack/react-query'
import { act, renderHook, waitFor } from '@testing-library/react'
import type { ReactNode } from 'react'

// The client takes hold of `fetch` when it is made.
vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')))
const { queryClient } = await import('~/api/client')
const { askedBy, useAnswer } = await import('~/features/answers/answer-queries')
const { approvalOf, useDecide } = await import('./approval-queries')

function Around({ children }: { children: ReactNode }) {
  return <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
}

afterEach(() => queryClient.clear())

// What is read on the page is asked for again, thrice and with pauses; nobody is to wait for that.
test('who sends an answer hears at once that the server is away', async () => {
  const { result } = renderHook(
    () => {
      useQuery(askedBy('c'))
      return useAnswer({ id: 'c', run_id: 'r' })
    },
    { wrapper: Around },
  )
  act(() => result.current.mutate({ result: 1 }))
  await waitFor(() => expect(result.current.error).toMatchObject({ status: 0 }))
})

test('who decides hears at once that the server is away', async () => {
  const { result } = renderHook(
    () => {
      useQuery(approvalOf('a'))
      return useDecide('a')
    },
    { wrapper: Around },
  )
  act(() => result.current.mutate({ kind: 'approve', note: '' }))
  await waitFor(() => expect(result.current.error).toMatchObject({ status: 0 }))
})
