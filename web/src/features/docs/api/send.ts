import { useEffect, useRef, useState } from 'react'

import { fetchAsPage, queryClient } from '~/api/client'
import type { Ready } from './request'

/** More of an answer is not shown. */
const SHOWN_MAX = 262_144

export interface Came {
  status: number
  took_ms: number
  headers: [string, string][]
  text: string
  /** Whether there was more than is shown. */
  isCut: boolean
  isOver: boolean
}

type Part = Pick<Came, 'text' | 'isCut' | 'isOver'>

export type Sent =
  | { state: 'none' }
  | { state: 'waiting' }
  | { state: 'came'; came: Came }
  | { state: 'failed'; why: string }

/** Sends one request at a time, with the rights of whoever has signed in, and shows an answer while it comes. */
export function useSend() {
  const [sent, setSent] = useState<Sent>({ state: 'none' })
  const ending = useRef<AbortController>(null)
  useEffect(() => () => ending.current?.abort(), [])
  const stop = () => ending.current?.abort()
  const send = async ({ method, path, headers, body }: Ready) => {
    stop()
    const mine = new AbortController()
    ending.current = mine
    setSent({ state: 'waiting' })
    const start = performance.now()
    try {
      const response = await fetchAsPage(path, { method, headers, body, signal: mine.signal })
      const head = {
        status: response.status,
        headers: [...response.headers],
        took_ms: Math.round(performance.now() - start),
      }
      for await (const part of textOf(response))
        setSent({ state: 'came', came: { ...head, ...part } })
      // Other pages show what may have changed by this.
      if (response.ok && method !== 'GET')
        void queryClient.invalidateQueries({ refetchType: 'none' })
    } catch (error) {
      if (ending.current !== mine) return
      if (!mine.signal.aborted) return setSent({ state: 'failed', why: String(error) })
      setSent((now) =>
        now.state === 'came' ? { ...now, came: { ...now.came, isOver: true } } : { state: 'none' },
      )
    }
  }
  return { sent, send, stop }
}

/** The text of an answer as it grows; streams have no end of their own. */
async function* textOf(response: Response): AsyncGenerator<Part> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  yield { text, isCut: false, isOver: false }
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) return yield { text, isCut: false, isOver: true }
    text += value
    if (text.length > SHOWN_MAX) {
      void reader?.cancel()
      return yield { text: text.slice(0, SHOWN_MAX), isCut: true, isOver: true }
    }
    yield { text, isCut: false, isOver: false }
  }
}
