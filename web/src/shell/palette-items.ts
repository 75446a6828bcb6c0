/** Somewhere to go. */
export interface Target {
  id: string
  label: string
  /** What stands beside the label, and is searched too. */
  hint?: string
  href: string
}

export interface Group {
  name: string
  targets: Target[]
}

const AT_ONCE = 8

/** What of a group speaks of every word that was typed; labels that begin so come first. */
export function matching({ name, targets }: Group, typed: string): Group {
  const words = typed.trim().toLowerCase().split(/\s+/).filter(Boolean)
  const found = targets.filter(({ label, hint = '' }) => {
    const text = `${label} ${hint}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const begins = ({ label }: Target) => label.toLowerCase().startsWith(words[0] ?? '')
  const ordered = words.length > 0 ? found.toSorted((a, b) => +begins(b) - +begins(a)) : found
  return { name, targets: ordered.slice(0, AT_ONCE) }
}
