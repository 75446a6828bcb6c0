import type { Schema } from '../schema/kinds'
import type { EditorTab, SchemaSide } from '../search'
import type { Tool } from '../types'

/** What can be said about a tool, as it is edited. */
export interface Definition {
  slug: string
  name: string
  description: string
  i18n: Schema | null
  category: string
  icon: string
  tags: string[]
  aliases: string[]
  status: string
  enabled: boolean
  is_active: boolean
  tenant_slugs: string[]
  required_permission: string
  permission_level: string | null
  permission_policy: string | null
  input_schema: Schema
  output_schema: Schema | null
  form_spec: Schema | null
  view_spec: Schema | null
  output_sections: unknown[]
  implementation_type: string
  implementation: Schema
  execution_spec: Schema | null
  timeout_ms: number | null
  is_async: boolean
  execution: Execution
}

export interface Execution {
  is_pure: boolean
  concurrency_group: string
  max_concurrency: number | null
  timeout_s: number | null
}

export type Key = keyof Definition

export const BLANK: Definition = {
  slug: '',
  name: '',
  description: '',
  i18n: null,
  category: '',
  icon: 'wrench',
  tags: [],
  aliases: [],
  status: 'draft',
  enabled: true,
  is_active: true,
  tenant_slugs: [],
  required_permission: '',
  permission_level: 'read',
  permission_policy: null,
  input_schema: { type: 'object', properties: {}, additionalProperties: false },
  output_schema: null,
  form_spec: null,
  view_spec: null,
  output_sections: [],
  // A person chooses the kind; none of them is what everybody wants.
  implementation_type: '',
  implementation: {},
  execution_spec: null,
  timeout_ms: 30_000,
  is_async: false,
  execution: {
    is_pure: false,
    concurrency_group: 'default',
    max_concurrency: null,
    timeout_s: null,
  },
}

const KEYS = Object.keys(BLANK) as Key[]

/** What may be laid over a tool of the program. Everything else belongs to the program. */
const LAID_OVER: readonly Key[] = [
  'name',
  'description',
  'i18n',
  'category',
  'icon',
  'tags',
  'status',
  'enabled',
  'is_active',
  'permission_level',
  'permission_policy',
  'timeout_ms',
]

export function canLayOver(key: Key): boolean {
  return LAID_OVER.includes(key)
}

/** A tool as it is edited. Secrets read `***`, and go back like that. */
export function fromTool(tool: Tool): Definition {
  const read = tool as unknown as Definition
  const picked = Object.fromEntries(
    KEYS.map((key) => [key, read[key] ?? BLANK_OF_NONE[key] ?? null]),
  )
  return picked as unknown as Definition
}

const BLANK_OF_NONE: Partial<Record<Key, unknown>> = { required_permission: '', implementation: {} }

/** The parts in which two definitions differ. The order of properties counts: forms show it. */
export function changedKeys(before: Definition, after: Definition): Key[] {
  return KEYS.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
}

/** The body that makes a definition of another one. */
export function changesOf(before: Definition, after: Definition): Record<string, unknown> {
  return Object.fromEntries(changedKeys(before, after).map((key) => [key, sent(key, after)]))
}

/** The body that makes a new tool. Its status is the server's to say. */
export function bodyOf(definition: Definition): Record<string, unknown> {
  const keys = KEYS.filter((key) => key !== 'status')
  return Object.fromEntries(
    keys.map((key) => [key, sent(key, definition)]).filter(([, value]) => value !== null),
  )
}

// What may be left empty, and is then what the server takes for it.
const OPTIONAL: readonly Key[] = ['category', 'icon', 'required_permission']

function sent(key: Key, definition: Definition): unknown {
  const value = definition[key]
  if (OPTIONAL.includes(key) && value === '') return null
  // A tool of the program goes back to what it was by taking back what was laid over it.
  if (key === 'status' && value === 'published') return null
  return value
}

// Each in the order in which the page shows it.
const TAB_OF: Record<
  Exclude<EditorTab, 'preview' | 'tests' | 'versions'>,
  readonly (Key | 'fields')[]
> = {
  identity: ['name', 'slug', 'description', 'category', 'icon', 'tags', 'aliases', 'i18n'],
  visibility: [
    'status',
    'enabled',
    'is_active',
    'tenant_slugs',
    'required_permission',
    'permission_level',
    'permission_policy',
  ],
  schema: ['input_schema', 'fields', 'output_schema', 'form_spec', 'view_spec', 'output_sections'],
  execution: [
    'implementation_type',
    'implementation',
    'execution_spec',
    'timeout_ms',
    'is_async',
    'execution',
  ],
}

/** The part of a definition that a fault is about. */
export function partOf(path: string): string {
  return path.split('/')[1] ?? ''
}

/** Faults, the first on the page first: that is where a person begins to mend. */
export function inOrderOfPage<T extends { path: string }>(faults: readonly T[]): T[] {
  const parts: string[] = Object.values(TAB_OF).flat()
  const rank = ({ path }: T) => {
    const place = parts.indexOf(partOf(path))
    return place < 0 ? parts.length : place
  }
  return faults.toSorted((left, right) => rank(left) - rank(right))
}

/** Where in the editor something of a definition is found. */
export function placeOf(path: string): { tab: EditorTab; side?: SchemaSide } {
  const part = partOf(path)
  const found = Object.entries(TAB_OF).find(([, keys]) => keys.some((key) => key === part))
  const tab = (found?.[0] ?? 'identity') as EditorTab
  if (tab !== 'schema') return { tab }
  if (part === 'output_schema') return { tab, side: 'output' }
  return { tab, side: part === 'input_schema' || part === 'fields' ? undefined : 'layout' }
}
