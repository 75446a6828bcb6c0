import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'

import { me } from '~/api/me'
import type { ToolSearch } from './search'
import { useTyped } from './tool-typed'

let who = { tenant: { slug: 'demo' }, principal: { user_id: 'ada' } }

function Around({ children }: { children: ReactNode }) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } })
  client.setQueryData(me.queryKey, who as never)
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>
}

const visit = (search: ToolSearch = {}, runnable = true) =>
  renderHook(() => useTyped('a', search, runnable), { wrapper: Around }).result

beforeEach(() => {
  sessionStorage.clear()
  who = { tenant: { slug: 'demo' }, principal: { user_id: 'ada' } }
})

test('what was typed comes back, with every digit', () => {
  const first = visit()
  act(() => first.current.keep({ id: 9007199254740993n }, true))
  expect(visit().current.restored).toEqual({ id: 9007199254740993n })
})

test('what a form starts with is not kept, nor what was typed and taken back', () => {
  const first = visit()
  act(() => first.current.keep({ years: 3 }, false))
  expect(visit().current.restored).toBeUndefined()
  act(() => first.current.keep({ years: 4 }, true))
  act(() => first.current.keep({ years: 3 }, true))
  expect(visit().current.restored).toBeUndefined()
})

test('a link and another run go before it, the same run does not', () => {
  const first = visit({ run: 'r1' })
  act(() => first.current.keep({ text: 'x' }, true))
  expect(visit({ input: '{}' }).current.restored).toBeUndefined()
  expect(visit({ run: 'r2' }).current.restored).toBeUndefined()
  expect(visit({ run: 'r1' }).current.restored).toEqual({ text: 'x' })
  expect(visit().current.restored).toEqual({ text: 'x' })
})

test('it is for the same person in the same tenant, who may run the tool, until they reset', () => {
  const first = visit()
  act(() => first.current.keep({ text: 'x' }, true))
  expect(visit({}, false).current.restored).toBeUndefined()
  who = { tenant: { slug: 'other' }, principal: { user_id: 'ada' } }
  expect(visit().current.restored).toBeUndefined()
  who = { tenant: { slug: 'demo' }, principal: { user_id: 'eve' } }
  expect(visit().current.restored).toBeUndefined()
  act(() => first.current.forget())
  who = { tenant: { slug: 'demo' }, principal: { user_id: 'ada' } }
  expect(visit().current.restored).toBeUndefined()
})
