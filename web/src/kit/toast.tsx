import { X } from 'lucide-react'
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react'

import { useTranslation } from '~/i18n'
import { cn } from './cn'

const SHOWN_MS = 6_000
/** Whoever wants to act on a message has to read it and to get there, perhaps by keyboard, past the whole page. */
const SHOWN_WITH_ACTION_MS = 20_000

interface Action {
  label: string
  run: () => void
}

interface Message {
  id: number
  text: string
  tone: 'good' | 'bad'
  action?: Action
}

let messages: Message[] = []
let next = 0
const listeners = new Set<() => void>()

function set(change: Message[]) {
  messages = change
  for (const listener of listeners) listener()
}

/** Says something in the corner, for a while. What a person must act on belongs into the page instead. */
export function toast(text: string, tone: Message['tone'] = 'good', action?: Action) {
  set([...messages, { id: next++, text, tone, action }])
}

export function Toasts() {
  const { t } = useTranslation()
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => messages,
  )
  return (
    <ul
      aria-label={t('messages')}
      aria-live="polite"
      className="fixed right-4 bottom-4 z-50 grid w-[min(24rem,calc(100vw-2rem))] gap-2"
    >
      {shown.map((message) => (
        <Card key={message.id} message={message} />
      ))}
    </ul>
  )
}

function Card({ message: { id, text, tone, action } }: { message: Message }) {
  const { t } = useTranslation()
  const close = () => set(messages.filter((message) => message.id !== id))
  // What a pointer or the keyboard rests on stays.
  const [held, setHeld] = useState(false)
  const end = useEffectEvent(close)
  useEffect(() => {
    if (held) return
    const timer = setTimeout(end, action ? SHOWN_WITH_ACTION_MS : SHOWN_MS)
    return () => clearTimeout(timer)
  }, [held, action])
  return (
    <li
      className={cn(
        'flex items-center gap-3 rounded-md border border-line bg-ground p-3 shadow-lg',
        {
          'border-bad text-bad': tone === 'bad',
        },
      )}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span className="min-w-0 flex-1 break-words">{text}</span>
      {action && (
        <button
          type="button"
          className="rounded-sm px-1 font-medium text-accent underline-offset-2 hover:underline"
          onClick={() => {
            close()
            action.run()
          }}
        >
          {action.label}
        </button>
      )}
      <button type="button" aria-label={t('close')} onClick={close}>
        <X aria-hidden className="size-4" />
      </button>
    </li>
  )
}
