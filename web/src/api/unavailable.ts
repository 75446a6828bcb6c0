/** Why the server says that a tool cannot be run. */
export const UNAVAILABLE: ReadonlySet<string> = new Set([
  'switched_off',
  'not_switched_on',
  'not_for_this_tenant',
  'not_permitted',
  'disabled',
  'inactive',
  'draft',
  'deprecated',
  'held',
])
