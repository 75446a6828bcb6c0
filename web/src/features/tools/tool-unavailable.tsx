import { CircleSlash } from 'lucide-react'
import { useTranslation } from 'react-i18next'

import type { Tool } from './queries'

const REASONS = new Set([
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

/** Why the tool cannot be run now, and what would change that. */
export function ToolUnavailable({ tool, mayRun }: { tool: Tool; mayRun: boolean }) {
  const { t } = useTranslation('tool')
  const told = tool.unavailable_reason ?? ''
  const reason = tool.available && !mayRun ? 'may_not_run' : REASONS.has(told) ? told : 'unknown'
  return (
    <p className="flex items-start gap-2 rounded-md border border-warn bg-warn-soft p-3 text-warn">
      <CircleSlash aria-hidden className="mt-0.5 size-4 shrink-0" />
      {t(`unavailable.${reason}`)}
    </p>
  )
}
