import { createParser } from 'eventsource-parser'

import { Problem } from './problem'

export interface StreamEvent {
  id: string
  type: string
  data: string
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000

/**
 * Follows a stream of events until `signal` says stop, and takes it up again after the last event it
 * saw when the connection breaks or the server restarts. A refusal (4xx) ends it with that `Problem`.
 */
export async function follow(
  path: string,
  signal: AbortSignal,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  let last: string | undefined
  let pause = FIRST_PAUSE_MS
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      if (id) last = id
      onEvent({ id: id ?? '', type: event ?? 'message', data })
    },
  })
  while (!signal.aborted) {
    try {
      const headers: HeadersInit = { accept: 'text/event-stream' }
      if (last) headers['last-event-id'] = last
      const response = await fetch(path, { headers, signal })
      if (!response.ok) throw await Problem.of(response)
      pause = FIRST_PAUSE_MS
      await read(response, (text) => parser.feed(text))
      parser.reset()
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof Problem && error.status < 500) throw error
    }
    await wait(pause, signal)
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }
}

async function read(response: Response, onText: (text: string) => void): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const next = await reader?.read()
    if (!next || next.done) return
    onText(next.value)
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      done()
    })
  })
}
