import { useState } from 'react'

import type { Fault } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { focusSoon } from '../focus-soon'
import { faultsOf, plainly } from './fault-words'

interface Options {
  /** What stands at a place, so that an empty text is told from a wrong one. */
  valueAt: (path: string) => string | undefined
  /** The control at a place. */
  idAt: (path: string) => string
}

/**
 * Sends a form, and keeps what the server has against it. Not a mutation of the query client: that one would
 * remember what it sent, and what is sent here is secret.
 */
export function useSending({ valueAt, idAt }: Options) {
  const { t } = useTranslation('credentials')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const [faults, setFaults] = useState<Fault[]>([])

  const refuse = (faults: Fault[]) => {
    setFaults(faults)
    if (faults[0]) focusSoon(idAt(faults[0].path))
  }
  const send = async (act: () => Promise<void>) => {
    if (busy) return
    setBusy(true)
    setProblem(undefined)
    setFaults([])
    try {
      await act()
    } catch (error) {
      setProblem(error)
      const told = faultsOf(error)
      refuse(told.map((fault) => ({ ...fault, message: plainly(t, fault, valueAt(fault.path)) })))
    } finally {
      setBusy(false)
    }
  }
  return {
    busy,
    problem,
    faults,
    send,
    refuse,
    faultAt: (path: string) => faults.find((fault) => fault.path === path)?.message,
    /** Takes back what was said about a place and what is in it: it is being mended. */
    mend: (path: string) =>
      setFaults((now) => now.filter((fault) => !`${fault.path}/`.startsWith(`${path}/`))),
    forget: () => {
      setProblem(undefined)
      setFaults([])
    },
  }
}

export type Sending = ReturnType<typeof useSending>

/** The id of the control at a place. All hosts have one. */
export function idOf(path: string): string {
  return `credential${path.replace(/^\/allowed_hosts\/.*/, '/allowed_hosts').replaceAll('/', '-')}`
}
