import { useState } from 'react'

import { useMe } from '~/api/me'

const RECENT_MAX = 6

/** The tools that a person keeps at hand. */
export interface Shelf {
  favourites: string[]
  recent: string[]
  toggle: (slug: string) => void
}

interface Kept {
  favourites: string[]
  recent: string[]
}

// The server has no place for them, so they are kept in this browser, for each person and tenant.
function keyOf({ tenant, principal }: ReturnType<typeof useMe>): string {
  return `shelf:${tenant.slug}:${principal.user_id}`
}

function read(key: string): Kept {
  const words = (value: unknown) =>
    Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? '{}')
    return { favourites: words(kept.favourites), recent: words(kept.recent) }
  } catch {
    return { favourites: [], recent: [] }
  }
}

function write(key: string, kept: Kept) {
  try {
    localStorage.setItem(key, JSON.stringify(kept))
  } catch {
    // A store that is full or forbidden: they last as long as the page.
  }
}

export function useShelf(): Shelf {
  const key = keyOf(useMe())
  const [kept, setKept] = useState(() => read(key))
  return {
    ...kept,
    toggle: (slug) => {
      const before = read(key)
      const isOn = before.favourites.includes(slug)
      const favourites = isOn
        ? before.favourites.filter((other) => other !== slug)
        : [...before.favourites, slug]
      const next = { ...before, favourites }
      write(key, next)
      setKept(next)
    },
  }
}

/** The newest first, each once. */
export function withRecent(recent: readonly string[], slug: string): string[] {
  return [slug, ...recent.filter((other) => other !== slug)].slice(0, RECENT_MAX)
}

/** Notes that a person has opened a tool. */
export function useNoteRecent(): (slug: string) => void {
  const key = keyOf(useMe())
  return (slug) => {
    const kept = read(key)
    write(key, { ...kept, recent: withRecent(kept.recent, slug) })
  }
}
