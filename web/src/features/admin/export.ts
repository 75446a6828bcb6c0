import { download } from '~/features/result/download'
import type { Tool } from './types'

// What belongs to this installation and this moment, not to what the tool is.
const OF_THIS_PLACE = `
  id kind origin scope tool_type execution_type status published_at available
  unavailable_reason has_draft revision etag enabled is_active tenant_slugs fields
`
  .trim()
  .split(/\s+/)

/** A tool as a body that makes it again elsewhere. Secrets stay behind: they read `***`. */
export function exported(tool: Tool): Record<string, unknown> {
  const kept = Object.entries(tool).filter(
    ([key, value]) => !OF_THIS_PLACE.includes(key) && value !== null,
  )
  return Object.fromEntries(kept)
}

export function save(tool: Tool): void {
  const text = `${JSON.stringify(exported(tool), null, 2)}\n`
  download(`${tool.slug}.json`, 'application/json', text)
}
