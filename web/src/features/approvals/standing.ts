import { actorOf } from '~/api/actor'
import { Problem } from '~/api/problem'

/** For how long a standing approval can be given, in hours. */
export const STANDING_HOURS = [1, 8, 24] as const

/** What is approved beside the call itself: later ones whose named fields are the same, or all of their input. */
export interface StandingWish {
  for_s: number
  fields?: string[]
}

/** What somebody chose of it. */
export interface StandingChoice {
  hours: number
  /** JSON pointers; the whole input without any. */
  fields: string[] | undefined
}

export const FIRST_CHOICE: StandingChoice = { hours: 1, fields: undefined }

export function wishOf({ hours, fields }: StandingChoice): StandingWish {
  return { for_s: hours * 3_600, ...(fields && { fields }) }
}

interface Asked {
  level?: string | null
  requested_by: string
}

/** Whether later calls can be approved together with this one: only those of agents, and never what destroys. */
export function canStand({ level, requested_by }: Asked): boolean {
  return level !== 'destructive' && actorOf(requested_by).kind === 'agent'
}

const IN_STANDING = '/standing'

/** Whether the server has something against the approval of later calls. */
export function isOfStanding(error: unknown): boolean {
  return error instanceof Problem && error.errors.some(({ path }) => path.startsWith(IN_STANDING))
}
