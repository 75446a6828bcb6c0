import { QueryClient } from '@tanstack/react-query'
import { act, fireEvent, screen } from '@testing-library/react'
import { useState } from 'react'

import { showPage } from '~/test-page'
import { SearchBox } from './search-box'

let said: (string | undefined)[] = []
let address: (q: string | undefined) => void = () => undefined

/** A page whose address changes when the test says so, and not at once. */
function SlowPage() {
  const [q, setQ] = useState<string>()
  address = setQ
  return <SearchBox label="Search" q={q} onSearch={(q) => said.push(q)} />
}

const box = () => screen.getByRole('searchbox')
const type = (text: string) => {
  fireEvent.change(box(), { target: { value: text } })
  act(() => vi.advanceTimersByTime(300))
}

beforeEach(async () => {
  said = []
  await showPage(new QueryClient(), <SlowPage />)
  vi.useFakeTimers()
})
afterEach(() => void vi.useRealTimers())

test('what is typed while an earlier search is on its way is not lost', () => {
  type('sa')
  type('sales')
  expect(said).toEqual(['sa', 'sales'])
  act(() => address('sa'))
  expect(box()).toHaveValue('sales')
  act(() => address('sales'))
  expect(box()).toHaveValue('sales')
})

test('the back button is believed', () => {
  type('sales')
  act(() => address('sales'))
  act(() => address(undefined))
  expect(box()).toHaveValue('')
  act(() => vi.advanceTimersByTime(300))
  expect(said).toEqual(['sales'])
})
