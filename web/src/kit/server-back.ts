import { useEffect, useEffectEvent } from 'react'

import { deployedScript } from './not-loaded'

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/**
 * Asks a server that is away again and again, less and less often, and at once when somebody comes back to the page or
 * the network does. Acts once, when it answers.
 */
export function useServerBack(isAway: boolean, onBack: () => void) {
  const back = useEffectEvent(onBack)
  useEffect(() => {
    if (!isAway) return
    let pause = FIRST_PAUSE_MS
    let timer: ReturnType<typeof setTimeout>
    let isAsking = false
    let isOver = false
    const ask = async () => {
      if (isAsking || isOver) return
      clearTimeout(timer)
      isAsking = true
      const answers = await deployedScript().then(
        () => true,
        () => false,
      )
      isAsking = false
      if (isOver) return
      if (answers) {
        isOver = true
        back()
      } else wait()
    }
    const wait = () => {
      timer = setTimeout(() => void ask(), pause)
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    }
    const askNow = () => {
      pause = FIRST_PAUSE_MS
      void ask()
    }
    addEventListener('focus', askNow)
    addEventListener('online', askNow)
    wait()
    return () => {
      isOver = true
      clearTimeout(timer)
      removeEventListener('focus', askNow)
      removeEventListener('online', askNow)
    }
  }, [isAway])
}
