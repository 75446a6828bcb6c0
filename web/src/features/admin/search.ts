import { oneOf, type Raw, text } from '~/api/search'

/** What the list of tools shows, and whose drawer is open. */
export interface ToolsAdminSearch {
  q?: string
  kind?: string
  status?: string
  open?: string
}

export const toolsAdminSearch = (raw: Raw): ToolsAdminSearch => ({
  q: text(raw, 'q'),
  kind: text(raw, 'kind'),
  status: text(raw, 'status'),
  open: text(raw, 'open'),
})

export const EDITOR_TABS = ['identity', 'visibility', 'schema', 'execution', 'versions'] as const

export interface ToolEditorSearch {
  tab?: (typeof EDITOR_TABS)[number]
}

export const toolEditorSearch = (raw: Raw): ToolEditorSearch => ({
  tab: oneOf(raw, 'tab', EDITOR_TABS),
})
