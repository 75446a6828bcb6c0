import { useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'

import { type Fault as FaultAt, Problem } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { Fault } from '~/kit/states'
import type { ToolEditorSearch } from '../search'
import { useEditing } from './context'
import { placeOf } from './definition'
import { usePlaceName } from './fault-words'
import { focusAt } from './focus-at'

/** Everything that keeps a definition from being saved, with the way to each. */
export function Faults({ search }: { search: ToolEditorSearch }) {
  const { faults, problem } = useEditing()
  if (faults.length > 0) return <Summary faults={faults} search={search} />
  // What it had against fields was told at them, and has been mended since.
  const isMended = problem instanceof Problem && problem.errors.length > 0
  return problem === undefined || isMended ? null : <Fault error={problem} />
}

function Summary({ faults, search }: { faults: FaultAt[]; search: ToolEditorSearch }) {
  const { t } = useTranslation('admin')
  const navigate = useNavigate()
  const nameOf = usePlaceName()
  const { refusals } = useEditing()
  const go = async ({ path }: FaultAt) => {
    const to = { ...search, ...placeOf(path) }
    await navigate({ to: '.', search: to, replace: true, resetScroll: false })
    focusAt(path)
  }
  const goToFirst = useEffectEvent(() => faults[0] && void go(faults[0]))
  useEffect(() => goToFirst(), [refusals])
  return (
    <div role="alert" className="grid gap-2 rounded-lg border border-bad bg-bad-soft p-4">
      <p className="font-medium text-bad">{t('editor.faults', { count: faults.length })}</p>
      <ul className="grid gap-1">
        {faults.map((fault) => {
          const { label, below } = nameOf(fault.path)
          return (
            <li key={fault.path + fault.message}>
              <button
                type="button"
                className="text-left break-words text-bad underline underline-offset-2"
                onClick={() => void go(fault)}
              >
                {label}
                {below && <code> {below}</code>}: {fault.message}
              </button>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
