import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import type { Fault as FaultAt } from '~/api/problem'
import { Fault } from '~/kit/states'
import type { ToolEditorSearch } from '../search'
import { idOf, useEditing } from './context'
import { partOf, placeOf } from './definition'

/** Everything that keeps a definition from being saved, with the way to each. */
export function Faults({ search }: { search: ToolEditorSearch }) {
  const { faults, problem } = useEditing()
  if (faults.length > 0) return <Summary faults={faults} search={search} />
  return problem === undefined ? null : <Fault error={problem} />
}

function Summary({ faults, search }: { faults: FaultAt[]; search: ToolEditorSearch }) {
  const { t } = useTranslation('admin')
  const navigate = useNavigate()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.focus(), [])
  const go = async ({ path }: FaultAt) => {
    await navigate({ to: '.', search: { ...search, ...placeOf(path) }, replace: true })
    // The nearest control around the fault: one for a part inside a schema is there only when it is open.
    requestAnimationFrame(() => {
      const control =
        document.getElementById(idOf(path)) ?? document.getElementById(idOf(`/${partOf(path)}`))
      control?.focus()
    })
  }
  return (
    <div
      ref={box}
      role="alert"
      tabIndex={-1}
      className="grid gap-2 rounded-lg border border-bad bg-bad-soft p-4 outline-none"
    >
      <p className="font-medium text-bad">{t('editor.faults', { count: faults.length })}</p>
      <ul className="grid gap-1">
        {faults.map((fault) => (
          <li key={fault.path + fault.message}>
            <button
              type="button"
              className="text-left break-words text-bad underline underline-offset-2"
              onClick={() => void go(fault)}
            >
              <code>{fault.path.slice(1)}</code> {fault.message}
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
