/** The names that are shown of an icon that goes by several: its own is the first. */
export function nameOf(names: string): string {
  return names.split(' ', 1)[0] ?? ''
}

/**
 * Icons by what somebody types: every word has to be in one of its names. Those whose own name begins with it come
 * first. Without a word the usual ones come first.
 */
export function iconsFor(
  all: readonly string[],
  typed: string,
  usual: readonly string[],
): string[] {
  const words = typed
    .toLowerCase()
    .split(/[\s-]+/)
    .filter(Boolean)
  if (words.length === 0) {
    const others = all.map(nameOf).filter((name) => !usual.includes(name))
    return [...usual, ...others]
  }
  const found = all.filter((names) => words.every((word) => names.includes(word)))
  const start = words.join('-')
  const rank = (name: string) => (name === start ? 0 : name.startsWith(start) ? 1 : 2)
  return found.map(nameOf).sort((one, other) => rank(one) - rank(other))
}
