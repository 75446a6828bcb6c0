import type { components } from '~/api/schema'

type Schemas = components['schemas']

/** A tool as a list shows it, and whole. */
export type ToolItem = Schemas['ToolItem']
export type Tool = Schemas['ToolView']
export type SavedTool = Schemas['SavedToolView']
export type Version = Schemas['List_VersionItem']['items'][number]

/** What has no shape of its own in the API's description, as the server answers it. */
export interface Author {
  kind: string
  id?: string
  key?: string
  agent?: string
}

export interface Change {
  part: 'input' | 'output'
  path: string
  kind: string
  breaking: boolean
  message: string
}

export interface Comparison {
  from: string
  to: string
  breaking: boolean
  required_bump: 'none' | 'patch' | 'minor' | 'major'
  changes: Change[]
}

export interface Check {
  check: string
  passed: boolean
  reason: string
}

export interface Explanation {
  visible: boolean
  callable: boolean
  decision: 'allow' | 'ask' | 'deny'
  reason: string
  /** The rule that decided, or the check that did not pass. */
  rule: string
  checks: Check[]
}

export interface User {
  kind: string
  slug: string
  name: string
}

/** Whether a tool is part of the program, so that only something can be laid over it. */
export function isOfProgram(tool: Pick<ToolItem, 'kind'>): boolean {
  return tool.kind !== 'tenant_custom'
}
