import { queryOptions } from '@tanstack/react-query'

import { api, body, queryClient } from '~/api/client'
import type { components } from '~/api/schema'
import type { User } from '../types'

export type Credential = components['schemas']['CredentialView']

/** A credential as it was read, and the mark by which a change says what it is a change of. */
export interface Marked {
  credential: Credential
  etag: string | null
}

const PAGE = 200
const LIST = ['admin', 'credentials'] as const

/** The tenant's credentials, without what is in them. There are few, and the server does not search them. */
export const credentials = queryOptions({
  queryKey: LIST,
  queryFn: async () => {
    const all: Credential[] = []
    let cursor: string | undefined
    do {
      const query = { limit: PAGE, cursor }
      const page = await body(api.GET('/api/credentials', { params: { query } }))
      all.push(...page.items)
      cursor = page.next_cursor ?? undefined
    } while (cursor)
    return all.toSorted((one, other) => one.label.localeCompare(other.label))
  },
})

export const credentialOf = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'credential', id],
    queryFn: () => marked(api.GET('/api/credentials/{id}', { params: { path: { id } } })),
  })

export const credentialUsersOf = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'credential', id, 'used-by'],
    queryFn: async () => {
      const params = { path: { id } }
      const answer = await body(api.GET('/api/credentials/{id}/used-by', { params }))
      return answer.items as unknown as User[]
    },
  })

/** What is said about a credential; what is left out stays as it is. */
export interface Said {
  label?: string
  type?: string
  provider_key?: string | null
  provider_variant?: string | null
  /** `null` for every host. */
  allowed_hosts?: string[] | null
  payload?: Record<string, string>
}

type Body = components['schemas']['CredentialBody']

export async function create(said: Said): Promise<Marked> {
  const made = await marked(api.POST('/api/credentials', { body: said as Body }))
  await changed(made)
  return made
}

export async function change({ credential: { id }, etag }: Marked, said: Said): Promise<Marked> {
  const params = { path: { id }, header: { 'If-Match': etag } }
  const after = await marked(api.PATCH('/api/credentials/{id}', { params, body: said as Body }))
  await changed(after)
  return after
}

export async function remove({ credential: { id }, etag }: Marked): Promise<void> {
  const params = { path: { id }, header: { 'If-Match': etag } }
  await api.DELETE('/api/credentials/{id}', { params })
  await queryClient.invalidateQueries({ queryKey: LIST })
}

/** The credential as the server has it now. */
export function current(id: string): Promise<Marked> {
  return queryClient.fetchQuery({ ...credentialOf(id), staleTime: 0 })
}

async function marked(answer: Promise<{ data?: Credential; response: Response }>): Promise<Marked> {
  const { data, response } = await answer
  return { credential: data as Credential, etag: response.headers.get('etag') }
}

async function changed(after: Marked): Promise<void> {
  queryClient.setQueryData(credentialOf(after.credential.id).queryKey, after)
  await queryClient.invalidateQueries({ queryKey: LIST })
}
