import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import { api, body } from '~/api/client'
import type { Run, RunPage } from '~/api/runs'
import type { components } from '~/api/schema'
import type { Schema } from '../../schema/kinds'
import type { Template } from './templates'

const WHOLE_LIST = { query: { limit: 200 } }

/** What a tool of the kind `internal` can be made of. */
export const builtins = queryOptions({
  queryKey: ['admin', 'builtins'],
  queryFn: async () => {
    const list = await body(api.GET('/api/tools/builtins/templates', { params: WHOLE_LIST }))
    return list.items.map((item) => templateOf(item.builtin_key, item))
  },
  staleTime: 300_000,
})

/** The scripts that there are, without their sources. */
export const artifacts = queryOptions({
  queryKey: ['admin', 'artifacts'],
  queryFn: async () => (await body(api.GET('/api/artifacts', { params: WHOLE_LIST }))).items,
  staleTime: 10_000,
})

/** A script with the source of its newest version. */
export const readArtifact = async (id: string) =>
  body(api.GET('/api/artifacts/{id}', { params: { path: { id } } }))

/** The slugs of the tools that run a script. */
export const artifactUsers = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'artifacts', id, 'used-by'],
    queryFn: async () => {
      const users = await body(api.GET('/api/artifacts/{id}/used-by', { params: { path: { id } } }))
      return users.items.map((user) => String((user as { slug?: unknown }).slug))
    },
    staleTime: 10_000,
  })

/** The language models that a tool of the kind `prompt` can ask. */
export const models = queryOptions({
  queryKey: ['admin', 'models'],
  queryFn: async () => (await body(api.GET('/api/models'))).items,
  staleTime: 60_000,
})

/** What a tool of the kind `function` can call. */
export const functions = queryOptions({
  queryKey: ['admin', 'functions'],
  queryFn: async () => {
    const list = await body(api.GET('/api/tools/builtins/functions', { params: WHOLE_LIST }))
    return list.items.map((item) => templateOf(item.function_name, item))
  },
  staleTime: 300_000,
})

type Facts = Omit<components['schemas']['BuiltinTemplate'], 'builtin_key'>

function templateOf(
  key: string,
  { name, description, input_schema, output_schema }: Facts,
): Template {
  return {
    key,
    name,
    description,
    input_schema: input_schema as unknown as Schema,
    output_schema: (output_schema ?? null) as unknown as Schema | null,
  }
}

/** Tools that a step can call, by what is typed. */
export const catalogue = (q: string) =>
  queryOptions({
    queryKey: ['admin', 'tools', 'to-call', q],
    queryFn: async () => {
      const query = { q: q || undefined, limit: 50 }
      return (await body(api.GET('/api/tools', { params: { query } }))).items
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })

/** What a tool gave the last time that it ran well, as far as one may see that; nothing where it never did. */
export const lastOutput = (slug: string) =>
  queryOptions({
    queryKey: [...LAST_OUTPUTS, slug],
    queryFn: async () => {
      const query = { tool: slug, status: 'success', limit: 1 } as const
      const page = (await body(api.GET('/api/runs', { params: { query } }))) as unknown as RunPage
      const [last] = page.items
      if (!last) return null
      const answer = api.GET('/api/runs/{id}', { params: { path: { id: last.run_id } } })
      return ((await body(answer)) as unknown as Run).output ?? null
    },
    retry: false,
    staleTime: 30_000,
  })

export const LAST_OUTPUTS = ['runs', 'last-output'] as const
