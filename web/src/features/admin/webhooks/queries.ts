import { queryOptions } from '@tanstack/react-query'

import { api, body, queryClient } from '~/api/client'
import type { components } from '~/api/schema'

export type Webhook = components['schemas']['WebhookView']
export type NewWebhook = components['schemas']['NewWebhookView']
export type Delivery = components['schemas']['DeliveryView']

/** What a webhook can be told of. Their sentences are in the texts, with `_` for the dot. */
export const EVENTS = [
  'run.completed',
  'run.failed',
  'approval.requested',
  'approval.decided',
  'tool.published',
  'mcp.drift',
] as const

export type EventName = (typeof EVENTS)[number]

const LIST = ['admin', 'webhooks'] as const
const PAGE = 50

/** A tenant has fifty at the most. */
export const webhooks = queryOptions({
  queryKey: LIST,
  queryFn: async () => {
    const params = { query: { limit: 200 } }
    return (await body(api.GET('/api/webhooks', { params }))).items
  },
})

export const webhookOf = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'webhook', id],
    queryFn: () => body(api.GET('/api/webhooks/{id}', { params: { path: { id } } })),
  })

/** The newest deliveries. Looked at again while one of them is still on its way. */
export const deliveriesOf = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'webhook', id, 'deliveries'],
    queryFn: () => {
      const params = { path: { id }, query: { limit: PAGE } }
      return body(api.GET('/api/webhooks/{id}/deliveries', { params }))
    },
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ status }) => status === 'pending') ? 2_000 : 15_000,
  })

export async function create(url: string, events: EventName[]): Promise<NewWebhook> {
  const made = await body(api.POST('/api/webhooks', { body: { url, events } }))
  await queryClient.invalidateQueries({ queryKey: LIST })
  return made
}

export interface Change {
  url?: string
  events?: EventName[]
  enabled?: boolean
}

export async function change(id: string, said: Change): Promise<void> {
  const params = { path: { id } }
  const after = await body(api.PATCH('/api/webhooks/{id}', { params, body: said }))
  queryClient.setQueryData(webhookOf(id).queryKey, after)
  await queryClient.invalidateQueries({ queryKey: LIST })
}

export async function remove(id: string): Promise<void> {
  await api.DELETE('/api/webhooks/{id}', { params: { path: { id } } })
  await queryClient.invalidateQueries({ queryKey: LIST })
}

export async function rotate(id: string): Promise<string> {
  const params = { path: { id } }
  return (await body(api.POST('/api/webhooks/{id}/rotate-secret', { params }))).secret
}

export async function test(id: string): Promise<Delivery> {
  const tried = await body(api.POST('/api/webhooks/{id}/test', { params: { path: { id } } }))
  await told(id)
  return tried
}

export async function redeliver({ id, webhook_id }: Delivery): Promise<Delivery> {
  const params = { path: { id } }
  const tried = await body(api.POST('/api/webhooks/deliveries/{id}/redeliver', { params }))
  await told(webhook_id)
  return tried
}

async function told(id: string): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['admin', 'webhook', id] })
}
