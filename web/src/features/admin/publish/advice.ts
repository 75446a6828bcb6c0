import type { Fault } from '~/api/problem'

/** What serves the author badly and can be published all the same. Everything else that a save warns of cannot. */
const ADVICE = new Set(['open_map', 'no_properties'])

export function isAdvice({ code }: Fault): boolean {
  return code !== undefined && ADVICE.has(code)
}
