import { oneOf, type Raw, text } from '~/api/search'

export const TOOL_KINDS = ['tenant_custom', 'system_override', 'code'] as const
export const TOOL_STATES = ['draft', 'published', 'deprecated', 'disabled'] as const

/** What the list of tools shows, and whose drawer is open. */
export interface ToolsAdminSearch {
  q?: string
  kind?: (typeof TOOL_KINDS)[number]
  status?: (typeof TOOL_STATES)[number]
  open?: string
}

export const toolsAdminSearch = (raw: Raw): ToolsAdminSearch => ({
  q: text(raw, 'q'),
  kind: oneOf(raw, 'kind', TOOL_KINDS),
  status: oneOf(raw, 'status', TOOL_STATES),
  open: text(raw, 'open'),
})

export const EDITOR_TABS = [
  'identity',
  'visibility',
  'schema',
  'execution',
  'preview',
  'tests',
  'versions',
] as const
export type EditorTab = (typeof EDITOR_TABS)[number]

/** The kinds of tools that can be made here, the most common first. */
export const NEW_KINDS = [
  'http',
  'prompt',
  'composition',
  'artifact',
  'mcp',
  'function',
  'external',
  'space',
  'internal',
] as const
export type NewKind = (typeof NEW_KINDS)[number]

export const SCHEMA_SIDES = ['input', 'output', 'layout'] as const
export type SchemaSide = (typeof SCHEMA_SIDES)[number]

/** Which tab is open, which side of the schema is edited and how, which versions are compared. */
export interface ToolEditorSearch {
  /** The kind of a tool that is being made. */
  kind?: NewKind
  tab?: EditorTab
  side?: SchemaSide
  as?: 'json'
  from?: string
  to?: string
  /** Whether the draft is about to be published. */
  publish?: true
}

export const toolEditorSearch = (raw: Raw): ToolEditorSearch => ({
  kind: oneOf(raw, 'kind', NEW_KINDS),
  tab: oneOf(raw, 'tab', EDITOR_TABS),
  side: oneOf(raw, 'side', SCHEMA_SIDES),
  as: oneOf(raw, 'as', ['json']),
  from: text(raw, 'from'),
  to: text(raw, 'to'),
  publish: raw.publish === true ? true : undefined,
})
