import { useEffect, useState } from 'react'

/** The time, again every `ms`; not at all without it. */
export function useNow(ms: number | undefined): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (ms === undefined) return
    const timer = setInterval(() => setNow(Date.now()), ms)
    return () => clearInterval(timer)
  }, [ms])
  return now
}
