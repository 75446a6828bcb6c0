import { useSyncExternalStore } from 'react'

import { api, queryClient } from './client'
import { me } from './me'

type State = 'in' | 'out' | 'put_off'

let state: State = 'in'
const listeners = new Set<() => void>()

function set(next: State) {
  state = next
  for (const listener of listeners) listener()
}

// Where a 401 is an answer, and not the end of a login.
const ASKS_WHO = /^\/api\/(auth\/|me$)/

api.use({
  onResponse({ request, response, schemaPath }) {
    const wasIn = queryClient.getQueryData(me.queryKey) !== undefined
    if (response.status !== 401 || !wasIn || ASKS_WHO.test(schemaPath)) return
    // Who has put it off is asked again when they do something, not whenever the page looks for news.
    if (state === 'in' || request.method !== 'GET') set('out')
  },
})

export function signedIn() {
  set('in')
}

export function putOff() {
  set('put_off')
}

/** Whether a person who is at work has to sign in again. */
export function useSignedOut(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => state === 'out',
  )
}
