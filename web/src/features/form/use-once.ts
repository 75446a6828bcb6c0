import { useEffect, useRef } from 'react'

/** How long a second press is taken for a slip of the first. */
const SLIP_MS = 600

/** Lets one act through, then none until it is done. Whoever acts may be slow to say that it is busy. */
export function useOnce(busy: boolean): (act: () => void) => void {
  const until = useRef(0)
  const wasBusy = useRef(false)
  useEffect(() => {
    if (wasBusy.current && !busy) until.current = 0
    wasBusy.current = busy
  }, [busy])
  return (act) => {
    const now = performance.now()
    if (busy || now < until.current) return
    until.current = now + SLIP_MS
    act()
  }
}
