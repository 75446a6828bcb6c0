import type { Run } from '~/api/runs'
import type { RunEvent } from './queries'

export type Phase = 'approval' | 'queue' | 'run' | 'step'

/** One bar: a time in which one thing happened. Times are milliseconds since 1970. */
export interface Bar {
  phase: Phase
  from: number
  to: number
  /** Whether it goes on. */
  open: boolean
  /** The run that a step is. */
  step?: Pick<Run, 'run_id' | 'tool' | 'status'>
  /** How many runs a step is inside of, not counting the first. */
  depth?: number
}

export interface Waterfall {
  from: number
  to: number
  bars: Bar[]
}

type Event = Pick<RunEvent, 'type' | 'at'>
type Step = Pick<Run, 'run_id' | 'tool' | 'status' | 'started_at' | 'finished_at'> & {
  requested_at?: string
  depth?: number
}

const ENDS = ['tool.completed', 'tool.failed', 'tool.cancelled']

/** Where a run's time went: waiting for a person, waiting for its turn, running, and in which steps. */
export function waterfall(events: Event[], steps: Step[], now: number): Waterfall | undefined {
  const at = (...types: string[]) => {
    const event = events.find((event) => types.includes(event.type))
    return event && Date.parse(event.at)
  }
  const asked = at('tool.needs_approval')
  const approved = at('tool.approved')
  const started = at('tool.started')
  const ended = at(...ENDS)
  const bars: Bar[] = []
  const add = (phase: Phase, from: number | undefined, to: number | undefined) => {
    if (from === undefined) return
    bars.push({ phase, from, to: Math.max(from, to ?? now), open: to === undefined })
  }
  add('approval', asked, approved ?? started ?? ended)
  add('queue', approved, started ?? ended)
  add('run', started, ended)
  for (const step of steps) {
    const to = step.finished_at ? Date.parse(step.finished_at) : undefined
    const began = step.started_at ?? step.requested_at
    if (!began) continue
    const from = Date.parse(began)
    bars.push({
      phase: 'step',
      from,
      to: Math.max(from, to ?? now),
      open: to === undefined,
      step: { run_id: step.run_id, tool: step.tool, status: step.status },
      depth: step.depth ?? 0,
    })
  }
  if (bars.length === 0) return undefined
  return {
    from: Math.min(...bars.map((bar) => bar.from)),
    to: Math.max(...bars.map((bar) => bar.to)),
    bars,
  }
}
