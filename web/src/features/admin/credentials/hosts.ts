/** The hosts that a text names, one in each line. */
export function hostsOf(text: string): string[] {
  return lines(text).map(({ host }) => host)
}

/** The text that names these hosts. */
export function textOf(hosts: readonly string[]): string {
  return hosts.join('\n')
}

/** The line in which a host of the list stands, counted from one: empty lines name no host. */
export function lineOf(text: string, index: number): number {
  return lines(text)[index]?.number ?? index + 1
}

function lines(text: string): { host: string; number: number }[] {
  return text
    .split('\n')
    .map((line, index) => ({ host: line.trim(), number: index + 1 }))
    .filter(({ host }) => host !== '')
}

/** The host of an address, as a list of hosts names it, unless it is only known when the tool runs. */
export function plainHost(address: unknown): string | undefined {
  if (typeof address !== 'string') return undefined
  const [start] = /^https?:\/\/[^/?#]+/i.exec(address.trim()) ?? []
  if (!start || start.includes('{')) return undefined
  try {
    return new URL(start).hostname || undefined
  } catch {
    return undefined
  }
}
