import { useEffectEvent, useLayoutEffect, useSyncExternalStore } from 'react'

const STORED = 'single-keys'
const listeners = new Set<() => void>()

/** Whether single letters are commands. People who dictate or who hit keys by accident switch them off. */
export function useSingleKeys(): [boolean, (on: boolean) => void] {
  const on = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => localStorage.getItem(STORED) !== 'off',
  )
  const set = (on: boolean) => {
    if (on) localStorage.removeItem(STORED)
    else localStorage.setItem(STORED, 'off')
    for (const listener of listeners) listener()
  }
  return [on, set]
}

/** Runs a command when its key is pressed anywhere but in a control that takes text or in a dialog. */
export function useKeys(commands: Record<string, (event: KeyboardEvent) => void>) {
  const [on] = useSingleKeys()
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (!Object.hasOwn(commands, event.key) || takesText(event.target)) return
    event.preventDefault()
    commands[event.key]?.(event)
  })
  // With the first sight of the page: a key that is pressed at once must not be lost.
  useLayoutEffect(() => {
    if (!on) return
    const listener = (event: KeyboardEvent) => press(event)
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [on])
}

function takesText(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') !==
      null
  )
}
