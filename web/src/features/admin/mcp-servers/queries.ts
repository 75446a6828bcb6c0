import { queryOptions } from '@tanstack/react-query'

import { api, body, queryClient } from '~/api/client'
import type { components } from '~/api/schema'

export type McpServer = components['schemas']['McpServerView']
export type McpServerDetail = components['schemas']['McpServerDetail']
export type RemoteTool = components['schemas']['RemoteToolView']
export type Drift = components['schemas']['DriftView']
export type Imported = components['schemas']['McpImportView']

const PAGE = 200
const LIST = ['admin', 'mcp-servers'] as const

/** The tenant's servers, as they answered last. There are few, and the server does not search them. */
export const mcpServers = queryOptions({
  queryKey: LIST,
  queryFn: async () => {
    const page = await body(api.GET('/api/mcp-servers', { params: { query: { limit: PAGE } } }))
    return page.items.toSorted((one, other) => one.name.localeCompare(other.name))
  },
})

export const mcpServerOf = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'mcp-server', id],
    queryFn: () => body(api.GET('/api/mcp-servers/{id}', { params: { path: { id } } })),
  })

export const driftsOf = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'mcp-server', id, 'drift'],
    queryFn: async () => {
      const params = { path: { id }, query: { limit: PAGE } }
      return (await body(api.GET('/api/mcp-servers/{id}/drift', { params }))).items
    },
  })

export interface Said {
  name: string
  url: string
  headers?: Record<string, string>
  allowed_tools?: string[] | null
  client_id?: string | null
  client_secret?: string | null
}

export async function add(said: Said): Promise<McpServerDetail> {
  const made = await body(api.POST('/api/mcp-servers', { body: said as never }))
  queryClient.setQueryData(mcpServerOf(made.id).queryKey, made)
  await queryClient.invalidateQueries({ queryKey: LIST })
  return made
}

export async function change(id: string, said: Partial<Said>): Promise<McpServerDetail> {
  const params = { path: { id } }
  const read = await body(api.PATCH('/api/mcp-servers/{id}', { params, body: said as never }))
  queryClient.setQueryData(mcpServerOf(id).queryKey, read)
  await changed(id)
  return read
}

/** Where somebody signs in to a server. It is a page of others, and a stranger named it. */
export async function authorize(id: string): Promise<string> {
  const params = { path: { id } }
  const { authorization_url } = await body(api.POST('/api/mcp-servers/{id}/authorize', { params }))
  if (!['https:', 'http:'].includes(new URL(authorization_url).protocol)) {
    throw new Error('this is no address of a page')
  }
  return authorization_url
}

export type Brought = components['schemas']['CallbackBody']

export async function comeBack(brought: Brought): Promise<McpServerDetail> {
  const read = await body(api.POST('/api/mcp-servers/callback', { body: brought }))
  queryClient.setQueryData(mcpServerOf(read.id).queryKey, read)
  await changed(read.id)
  return read
}

export async function signOut(id: string): Promise<void> {
  await api.DELETE('/api/mcp-servers/{id}/authorize', { params: { path: { id } } })
  await changed(id)
}

export async function remove(id: string): Promise<void> {
  await api.DELETE('/api/mcp-servers/{id}', { params: { path: { id } } })
  await queryClient.invalidateQueries({ queryKey: LIST })
}

export async function refresh(id: string): Promise<McpServerDetail> {
  const params = { path: { id } }
  const read = await body(api.POST('/api/mcp-servers/{id}/refresh', { params }))
  queryClient.setQueryData(mcpServerOf(id).queryKey, read)
  await changed(id)
  return read
}

export async function importTools(
  id: string,
  tools: string[],
  publish: boolean,
): Promise<Imported> {
  const params = { path: { id } }
  const made = await body(
    api.POST('/api/mcp-servers/{id}/import', { params, body: { tools, publish } }),
  )
  await changed(id)
  return made
}

export async function decide(id: string, drift: string, isAccepted: boolean): Promise<void> {
  const params = { path: { id, drift } }
  try {
    await (isAccepted
      ? api.POST('/api/mcp-servers/{id}/drift/{drift}/accept', { params })
      : api.POST('/api/mcp-servers/{id}/drift/{drift}/reject', { params }))
  } finally {
    // Refused, it was decided about by somebody else: what is shown is out of date.
    await changed(id)
  }
}

async function changed(id: string): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['admin', 'mcp-server', id] }),
    queryClient.invalidateQueries({ queryKey: LIST }),
    queryClient.invalidateQueries({ queryKey: ['tools'] }),
  ])
}
