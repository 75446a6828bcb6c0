import { isJson, type Json } from '~/features/form/schema/json'
import { TOOL_ICONS } from '~/kit/tool-icons'
import type { Definition } from '../editor/definition'
import { isAnswered } from '../editor/inside'

/** A tool as `tools/list` of MCP lists it to an agent. */
export function mcpToolOf(definition: Definition, origin: string): Json {
  const { slug, name, description, icon, permission_level: level } = definition
  const icons = Object.hasOwn(TOOL_ICONS, icon)
    ? [{ src: `${origin}/icons/${icon}.svg`, mimeType: 'image/svg+xml', sizes: ['any'] }]
    : undefined
  return {
    name: slug,
    title: name,
    description,
    ...(icons && { icons }),
    inputSchema: written(definition.input_schema),
    outputSchema: listedOutput(definition),
    annotations: {
      title: name,
      readOnlyHint: level === 'read' || level === 'draft',
      destructiveHint: level === 'destructive' || level === null,
      idempotentHint: level === 'read' || level === 'draft' || isPure(definition),
      openWorldHint: reachesOut(definition),
    },
  }
}

function isPure({ execution, permission_level }: Definition): boolean {
  return execution.is_pure && permission_level !== 'write' && permission_level !== 'destructive'
}

/** Whether a call can reach what is neither this server nor the people on it, as far as the tool itself says. */
function reachesOut({ implementation_type, implementation }: Definition): boolean {
  if (implementation_type === 'space') return false
  return implementation_type !== 'internal' || implementation.builtin_key !== undefined
}

/** Whether what a tool reaches is for the tools that it calls to say. */
export function dependsOnOthers({ implementation_type, implementation }: Definition): boolean {
  if (implementation_type === 'internal') return implementation.builtin_key !== undefined
  return ['composition', 'custom', 'function'].includes(implementation_type)
}

/** Whether somebody has to approve an agent's call, by the rules of the server. */
export function asksFirst({
  permission_level: level,
  permission_policy: policy,
}: Definition): boolean {
  return (
    level === 'destructive' || policy === 'always_ask' || (level === 'write' && policy !== 'auto')
  )
}

/** Whether a call can be answered before it has run. */
function canBePending(definition: Definition): boolean {
  const kind = definition.implementation_type
  const isChain = kind === 'composition' || kind === 'custom'
  return asksFirst(definition) || definition.is_async || isAnswered(kind) || isChain
}

const PENDING = {
  type: 'object',
  description: 'The call waits; collect its result with get_run',
  properties: {
    status: { enum: ['pending', 'needs_approval'] },
    run_id: { type: 'string' },
    approval_id: { type: 'string' },
    url: { type: 'string' },
  },
  required: ['status', 'run_id', 'url'],
}

/** The schema of the output as clients are told it: one that may have to wait allows that answer, too. */
function listedOutput(definition: Definition): unknown {
  const own = definition.output_schema ?? { type: 'object' }
  if (!canBePending(definition)) return written(own)
  const isObject = own.type === 'object'
  const inside = isObject
    ? own
    : {
        type: 'object',
        properties: { result: moved(own, '/properties/result') },
        required: ['result'],
      }
  const { $schema, ...rest } = moved(inside, '/anyOf/0') as Json
  return written({
    ...($schema !== undefined && { $schema }),
    type: 'object',
    anyOf: [rest, PENDING],
  })
}

/** A schema whose references lead to where it stands now. */
function moved(schema: unknown, to: string): unknown {
  if (Array.isArray(schema)) return schema.map((entry) => moved(entry, to))
  if (!isJson(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, said]) =>
      keyword === '$ref' && typeof said === 'string' && /^#(\/|$)/.test(said)
        ? [keyword, `#${to}${said.slice(1)}`]
        : [keyword, moved(said, to)],
    ),
  )
}

const ONE = ['items', 'not', 'if', 'then', 'else', 'contains', 'propertyNames', 'contentSchema']
const MANY = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']
const REST = ['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems']

/** A schema without translations, which no model needs, and without `true` and `false`, which some clients do not read. */
function written(schema: unknown): unknown {
  if (schema === true) return {}
  if (schema === false) return { not: {} }
  if (!isJson(schema)) return schema
  const { 'x-i18n': _, ...rest } = schema
  return Object.fromEntries(
    Object.entries(rest).map(([keyword, said]) => {
      if (ONE.includes(keyword)) return [keyword, written(said)]
      if (MANY.includes(keyword) && Array.isArray(said)) return [keyword, said.map(written)]
      if (REST.includes(keyword) && isJson(said)) return [keyword, written(said)]
      if (!BY_NAME.includes(keyword) || !isJson(said)) return [keyword, said]
      const named = Object.entries(said).map(([name, one]) => [name, written(one)])
      return [keyword, Object.fromEntries(named)]
    }),
  )
}

/** The call of a tool over HTTP, as an operation of OpenAPI 3.1. */
export function operationOf(definition: Definition): Json {
  const { slug, name, description, input_schema, output_schema } = definition
  const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })
  const output = output_schema === null ? {} : moved(output_schema, `${ANSWER}/properties/output`)
  const input = moved(input_schema, `${REQUEST}/properties/input`)
  return {
    [`/api/tools/${slug}/run`]: {
      post: {
        operationId: wireName(slug),
        summary: name,
        description,
        requestBody: {
          required: true,
          ...json({ type: 'object', properties: { input }, required: ['input'] }),
        },
        responses: {
          200: {
            description: 'The run',
            ...json({
              type: 'object',
              properties: {
                run_id: { type: 'string' },
                status: { enum: ['success', 'error', 'timed_out', 'cancelled'] },
                output,
                summary: { type: ['string', 'null'] },
                error: { type: ['string', 'null'] },
              },
              required: ['run_id', 'status'],
            }),
          },
          ...(canBePending(definition) && { 202: { description: 'The call waits' } }),
          422: { description: 'The input does not fit the schema' },
        },
      },
    },
  }
}

// Where the two schemas stand, counted from the operation: references inside of them start at the document.
const REQUEST = '/requestBody/content/application~1json/schema'
const ANSWER = '/responses/200/content/application~1json/schema'

/** A tool as providers of models take it. */
export const FUNCTIONS = {
  openai: ({ slug, description, input_schema }: Definition): Json => ({
    type: 'function',
    function: { name: wireName(slug), description, parameters: written(input_schema) },
  }),
  anthropic: ({ slug, description, input_schema }: Definition): Json => ({
    name: wireName(slug),
    description,
    input_schema: written(input_schema),
  }),
}

const WIRE_MAX = 64

/** The name that models see: providers take no dots. */
export function wireName(slug: string): string {
  return slug.replaceAll('.', '__').slice(0, WIRE_MAX)
}
