import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'

import type { Actor } from '~/api/actor'
import { me } from '~/api/me'
import { ActorName } from './people'

function show(actor: Actor | null) {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } })
  const principal = { kind: 'user', user_id: 'me-1', display_name: 'Ada' }
  const tenant = { id: 't', slug: 'demo', name: 'Demo' }
  const answer = { permissions: [], principal, roles: [], source: 'web', tenant, tenants: [tenant] }
  queries.setQueryData(me.queryKey, answer)
  render(
    <QueryClientProvider client={queries}>
      <ActorName actor={actor} />
    </QueryClientProvider>,
  )
}

test('a person is not known by their id', () => {
  show({ kind: 'user', id: '0193a000-0000-7000-8000-000000000000' })
  expect(screen.getByText('A colleague').parentElement).toHaveAttribute(
    'title',
    '0193a000-0000-7000-8000-000000000000',
  )
})

test.each([
  [{ kind: 'user', id: 'me-1' }, 'You'],
  [{ kind: 'agent', slug: 'bot' }, 'Agent bot'],
  [{ kind: 'system' }, 'system'],
  [null, 'Nobody'],
])('%j is %s', (actor, name) => {
  show(actor)
  expect(document.body).toHaveTextContent(name)
})
