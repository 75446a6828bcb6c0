import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import type { Fault, Problem } from '~/api/problem'
import { faultWords, useFaultsOf } from '~/i18n/server-words'
import { cn } from '~/kit/cn'
import { placeOf } from '../editor/definition'
import { usePlaceName } from '../editor/fault-words'
import { focusAt } from '../editor/focus-at'
import { warningsOf } from '../queries'
import type { Tool } from '../types'

const NONE: Fault[] = []

/** What keeps a draft from going live: what the server refused, else what it warned of when the draft was saved. */
export function useDraftFaults(tool: Tool, refused: Problem | undefined): Fault[] {
  const { data: warned } = useQuery(warningsOf(tool.slug))
  const faults = useFaultsOf(refused)
  if (refused) return faults
  if (warned?.revision !== tool.revision) return NONE
  return warned.faults.map((fault) => ({ ...fault, message: faultWords(fault) }))
}

interface Props {
  tool: Pick<Tool, 'slug'>
  faults: Fault[]
  /** Only told, and not in the way. */
  isWarning?: boolean
  /** Called before somebody is led to a field. */
  onGo?: () => void
}

/** Each fault with the way to its field. */
export function DraftFaults({ tool, faults, isWarning = false, onGo }: Props) {
  const { t } = useTranslation('publish')
  const navigate = useNavigate()
  const nameOf = usePlaceName()
  if (faults.length === 0) return null
  const go = async (path: string) => {
    onGo?.()
    await navigate({
      to: '/admin/tools/$slug/edit',
      params: { slug: tool.slug },
      search: placeOf(path),
      resetScroll: false,
    })
    focusAt(path)
  }
  return (
    <div
      role="alert"
      className={cn(
        'grid gap-2 rounded-lg border p-4',
        isWarning ? 'border-warn bg-warn-soft text-warn' : 'border-bad bg-bad-soft text-bad',
      )}
    >
      <p className="font-medium">
        {t(isWarning ? 'warnings' : 'faults', { count: faults.length })}
      </p>
      <ul className="grid gap-1">
        {faults.map(({ path, message }) => {
          const { label, below } = nameOf(path)
          return (
            <li key={path + message}>
              <button
                type="button"
                className="text-left break-words underline underline-offset-2"
                onClick={() => void go(path)}
              >
                {label}
                {below && <code> {below}</code>}: {message}
              </button>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
