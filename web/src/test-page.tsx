import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router'
import { render } from '@testing-library/react'
import type { ReactNode } from 'react'

import { me } from '~/api/me'

/** Whose page it is in tests. */
export const ME = '0193a000-0000-7000-8000-00000000000a'

/** Signs somebody in, who may do this and no more. */
export function signIn(queries: QueryClient, permissions: string[]) {
  const principal = { kind: 'user', user_id: ME, display_name: 'Ada' }
  const tenant = { id: 't', slug: 'demo', name: 'Demo' }
  const answer = { permissions, principal, roles: [], source: 'web', tenant, tenants: [tenant] }
  queries.setQueryData(me.queryKey, answer)
}

/** Draws a part of a page as the app would, with links that lead somewhere. */
export async function showPage(queries: QueryClient, part: ReactNode) {
  const routeTree = createRootRoute({ component: () => part })
  const router = createRouter({ routeTree, history: createMemoryHistory() })
  await router.load()
  render(
    <QueryClientProvider client={queries}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  )
}
