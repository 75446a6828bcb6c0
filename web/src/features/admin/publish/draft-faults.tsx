import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'

import type { Fault, Problem } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { faultWords, useFaultsOf } from '~/i18n/server-words'
import { cn } from '~/kit/cn'
import { placeOf } from '../editor/definition'
import { usePlaceName } from '../editor/fault-words'
import { focusAt } from '../editor/focus-at'
import { warningsOf } from '../queries'
import type { Tool } from '../types'
import { isAdvice } from './advice'

const NONE: Fault[] = []

/** What the server told of a draft when it was saved. */
export function useWarnings(tool: Tool) {
  const { data: warned } = useQuery(warningsOf(tool.slug))
  const faults = warned?.revision === tool.revision ? warned.faults : NONE
  const told = faults.map((fault) => ({ ...fault, message: faultWords(fault) }))
  return { refused: told.filter((fault) => !isAdvice(fault)), advice: told.filter(isAdvice) }
}

/** What keeps a draft from going live: what the server refused, else what it warned of when the draft was saved. */
export function useDraftFaults(tool: Tool, refused: Problem | undefined): Fault[] {
  const warned = useWarnings(tool).refused
  const faults = useFaultsOf(refused)
  return refused ? faults : warned
}

const LOOKS = {
  faults: 'border-bad bg-bad-soft text-bad',
  warnings: 'border-warn bg-warn-soft text-warn',
  advice: 'border-line bg-raised',
}

interface Props {
  tool: Pick<Tool, 'slug'>
  faults: Fault[]
  /** What they mean: they are in the way now, will be when it is published, or never. */
  as?: 'faults' | 'warnings' | 'advice'
  /** Called before somebody is led to a field. */
  onGo?: () => void
}

/** Each fault with the way to its field. */
export function DraftFaults({ tool, faults, as = 'faults', onGo }: Props) {
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
      role={as === 'advice' ? 'note' : 'alert'}
      className={cn('grid gap-2 rounded-lg border p-4', LOOKS[as])}
    >
      <p className="font-medium">{t(as, { count: faults.length })}</p>
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
