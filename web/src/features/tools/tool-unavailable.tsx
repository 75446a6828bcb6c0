import { CircleSlash } from 'lucide-react'

import { UNAVAILABLE } from '~/api/unavailable'
import { useTranslation } from '~/i18n'
import type { Tool } from './queries'

/** Why the tool cannot be run now, and what would change that. */
export function ToolUnavailable({ tool, mayRun }: { tool: Tool; mayRun: boolean }) {
  const { t } = useTranslation('tool')
  const told = tool.unavailable_reason ?? ''
  const reason =
    tool.available && !mayRun ? 'may_not_run' : UNAVAILABLE.has(told) ? told : 'unknown'
  return (
    <p className="flex items-start gap-2 rounded-md border border-warn bg-warn-soft p-3 text-warn">
      <CircleSlash aria-hidden className="mt-0.5 size-4 shrink-0" />
      {t(`unavailable.${reason}`)}
    </p>
  )
}
