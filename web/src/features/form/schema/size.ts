/** Whether there are more values in a value than so many, however deep. Looks no further than it has to. */
export function hasMoreThan(limit: number, value: unknown): boolean {
  const open = [value]
  let count = 0
  while (open.length > 0) {
    const here = open.pop()
    if (typeof here === 'object' && here !== null) {
      const inner = Object.values(here)
      if (inner.length > limit) return true
      open.push(...inner)
    } else if (++count > limit) return true
  }
  return false
}
