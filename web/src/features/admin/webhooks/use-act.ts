import { useState } from 'react'

import { type Fault, Problem } from '~/api/problem'
import { faultWords } from '~/i18n/server-words'
import { focusSoon } from '../focus-soon'

/** Does one thing at a time, and keeps what the server has against it. */
export function useAct(idAt?: (path: string) => string) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const faults: Fault[] = problem instanceof Problem ? problem.errors : []
  const act = async (work: () => Promise<void>) => {
    if (busy) return
    setBusy(true)
    setProblem(undefined)
    try {
      await work()
    } catch (error) {
      setProblem(error)
      const first = error instanceof Problem ? error.errors[0] : undefined
      if (first && idAt) focusSoon(idAt(first.path))
    } finally {
      setBusy(false)
    }
  }
  const faultAt = (path: string) => {
    const fault = faults.find((one) => one.path === path || one.path.startsWith(`${path}/`))
    return fault && faultWords(fault)
  }
  return { busy, problem, faults, act, faultAt }
}
