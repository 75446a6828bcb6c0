/** How a run went, as far as a glance is concerned. */
export type Mark = 'good' | 'bad' | 'open'

export interface Health {
  /** Oldest first. */
  marks: Mark[]
  good: number
  bad: number
  open: number
}

export const STRIP = 30

export function markOf(status: string): Mark {
  if (status === 'success') return 'good'
  return status === 'error' || status === 'timed_out' ? 'bad' : 'open'
}

/** The last runs of each tool, from a list that is newest first. */
export function healthByTool(runs: { tool: string; status: string }[]): Map<string, Health> {
  const tools = new Map<string, Health>()
  for (const { tool, status } of runs) {
    const health = tools.get(tool) ?? { marks: [], good: 0, bad: 0, open: 0 }
    tools.set(tool, health)
    if (health.marks.length === STRIP) continue
    const mark = markOf(status)
    health.marks.unshift(mark)
    health[mark] += 1
  }
  return tools
}
