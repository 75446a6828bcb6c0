import { idOf } from './context'

let stop = () => {}

/**
 * Goes to the nearest control around a place of the definition. A tab that was just opened, or the panel of a kind, may
 * still be on its way: a control that is nearer gets the focus as soon as it is there, unless the person has gone on.
 */
export function focusAt(path: string) {
  stop()
  const steps = path.split('/')
  const ids = steps.slice(1).map((_, index) => idOf(steps.slice(0, index + 2).join('/')))
  const start = document.activeElement
  let found: HTMLElement | undefined
  /** Answers whether there is nothing left to wait for. */
  const look = (): boolean => {
    const now = document.activeElement
    if (now !== start && now !== document.body && !found?.contains(now)) return true
    const nearest = ids.findLast((id) => document.getElementById(id))
    const control = nearest ? document.getElementById(nearest) : null
    if (control && control !== found) {
      found = control
      control.focus()
    }
    return nearest === ids.at(-1)
  }
  if (look()) return
  const observer = new MutationObserver(() => look() && stop())
  observer.observe(document.body, { childList: true, subtree: true })
  const listening = new AbortController()
  stop = () => {
    observer.disconnect()
    listening.abort()
  }
  for (const act of ['keydown', 'pointerdown']) {
    addEventListener(act, stop, { capture: true, signal: listening.signal })
  }
}
