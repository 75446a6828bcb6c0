import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'

import { follow, type Language } from '~/i18n'
import { api, body, queryClient, showTenant } from './client'
import type { components } from './schema'

export type Me = components['schemas']['Me']

/** Who is signed in, and what they may do. */
export const me = queryOptions({
  queryKey: ['me'],
  queryFn: async () => {
    const me = await body(api.GET('/api/me'))
    showTenant(me.tenant.slug)
    await follow(me.language)
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

/** Stores the language that somebody chose, and speaks it. */
export async function chooseLanguage(language: Language): Promise<void> {
  const changed = await body(api.PATCH('/api/me', { body: { language } }))
  queryClient.setQueryData(me.queryKey, changed)
  await follow(changed.language)
}
