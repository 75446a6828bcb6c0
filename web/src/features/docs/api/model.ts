import { queryOptions } from '@tanstack/react-query'

import { read } from '../queries'

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
export type Method = (typeof METHODS)[number]

/** A JSON Schema, as far as the reference looks into it. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  title?: string
  description?: string
  format?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  example?: unknown
  examples?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  allOf?: Schema[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  required?: boolean
  description?: string
  schema?: Schema
}

interface Media {
  schema?: Schema
  example?: unknown
}

interface Content {
  description?: string
  content?: Record<string, Media>
}

interface Described {
  operationId: string
  tags?: string[]
  summary?: string
  description?: string
  parameters?: Parameter[]
  requestBody?: Content & { required?: boolean }
  responses?: Record<string, Content>
  security?: object[]
}

/** The OpenAPI document. */
export interface Description {
  info: { title: string; version: string; description?: string }
  paths: Record<string, Partial<Record<Method, Described>>>
  components?: { schemas?: Record<string, Schema> }
}

export interface Answer {
  status: string
  description: string
  type?: string
  schema?: Schema
}

/** One thing that the API does. */
export interface Operation {
  id: string
  method: Method
  path: string
  tag: string
  summary: string
  description: string
  parameters: Parameter[]
  body?: Media & { required: boolean }
  answers: Answer[]
  /** Whether it needs no credentials. */
  isOpen: boolean
}

export const description = queryOptions({
  queryKey: ['openapi'],
  queryFn: async (): Promise<Description> => JSON.parse(await read('/api/openapi.json')),
  staleTime: Number.POSITIVE_INFINITY,
})

export function operationsOf(api: Description): Operation[] {
  return Object.entries(api.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const described = item[method]
      return described ? [operationOf(method, path, described)] : []
    }),
  )
}

function operationOf(method: Method, path: string, described: Described): Operation {
  const { requestBody, responses = {}, security } = described
  const media = requestBody?.content?.['application/json']
  return {
    id: described.operationId,
    method,
    path,
    tag: described.tags?.[0] ?? 'other',
    summary: described.summary ?? '',
    description: described.description ?? '',
    parameters: described.parameters ?? [],
    body: media && { ...media, required: requestBody?.required ?? false },
    answers: Object.entries(responses).map(([status, { description = '', content = {} }]) => {
      const [type, media] = Object.entries(content)[0] ?? []
      return { status, description, type, schema: media?.schema }
    }),
    isOpen: security?.some((way) => Object.keys(way).length === 0) ?? false,
  }
}

/** What most people look for comes first; whatever is not named here comes last. */
const FIRST_TAGS = ['tools', 'runs', 'approvals', 'calls', 'sessions', 'people', 'administration']

/** The operations by what they are about. */
export function grouped(operations: Operation[]): [string, Operation[]][] {
  const groups = new Map<string, Operation[]>(FIRST_TAGS.map((tag) => [tag, []]))
  for (const operation of operations) {
    groups.set(operation.tag, [...(groups.get(operation.tag) ?? []), operation])
  }
  return [...groups].filter(([, inTag]) => inTag.length > 0)
}

/** The operations that speak of every word: by method, path, name and summary. */
export function matching(operations: Operation[], typed: string): Operation[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  return operations.filter(({ method, path, id, summary, tag }) => {
    const text = `${method} ${path} ${id} ${summary} ${tag}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** What a schema says that only names another. */
export function followed(api: Description, schema: Schema): Schema {
  const name = refOf(schema)
  return (name && api.components?.schemas?.[name]) || schema
}

export function refOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1)
}
