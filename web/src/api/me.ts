import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'

import { api, body, showTenant } from './client'
import type { components } from './schema'

export type Me = components['schemas']['Me']

/** Who is signed in, and what they may do. */
export const me = queryOptions({
  queryKey: ['me'],
  queryFn: async () => {
    const me = await body(api.GET('/api/me'))
    showTenant(me.tenant.slug)
    return me
  },
  staleTime: 60_000,
})

export function useMe(): Me {
  return useSuspenseQuery(me).data
}

/** Whether the person signed in holds a permission; the server asks again in any case. */
export function useMay(permission: string): boolean {
  return useMe().permissions.includes(permission)
}
