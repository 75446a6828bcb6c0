import { duration } from '~/kit/time'

/** How long a run took. The server counts in whole milliseconds, and none of them is not no time. */
export function took(ms: number | null | undefined): string {
  if (ms == null) return '–'
  return ms >= 1 ? duration(ms) : `< ${duration(1)}`
}
