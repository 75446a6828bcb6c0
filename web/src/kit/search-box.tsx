import { useRouter } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useEffect, useEffectEvent, useRef, useState } from 'react'

import { Input } from './field'
import { useKeys } from './keys'

const PAUSE_MS = 200

interface Props {
  label: string
  q: string | undefined
  onSearch: (q: string | undefined) => void
}

/** The search box of a list. It says what it holds once a person pauses; `/` leads to it. */
export function SearchBox({ label, q, onSearch }: Props) {
  const router = useRouter()
  const [page] = useState(() => router.latestLocation.pathname)
  const box = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(q ?? '')
  // What was said and has not come back by the address. On a slow page that may be several at a time.
  const sent = useRef([q])
  const send = useEffectEvent(() => {
    const wanted = text.trim() || undefined
    // Whoever is on the way to another page must not be called back to this one.
    if (wanted === sent.current.at(-1) || router.latestLocation.pathname !== page) return
    sent.current.push(wanted)
    onSearch(wanted)
  })
  // The address changed by other means, such as the back button. What is being typed is not.
  useEffect(() => {
    const place = sent.current.lastIndexOf(q)
    sent.current = place < 0 ? [q] : sent.current.slice(place)
    if (place < 0) setText(q ?? '')
  }, [q])
  useEffect(() => {
    const timer = setTimeout(send, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  useKeys({ '/': () => box.current?.focus() })
  return (
    <div className="relative min-w-0 basis-full sm:flex-1 sm:basis-0">
      <Search
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted"
      />
      <Input
        ref={box}
        type="search"
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder={label}
        className="pl-9"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && send()}
      />
      {text === '' && (
        <kbd
          aria-hidden
          className="pointer-events-none absolute top-1/2 right-3 hidden -translate-y-1/2 rounded border border-line px-1.5 text-xs text-muted sm:block"
        >
          /
        </kbd>
      )}
    </div>
  )
}
