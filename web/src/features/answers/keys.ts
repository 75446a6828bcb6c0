/** The keys of the list of answers, and what they do. */
export const KEYS = [
  ['j', 'next'],
  ['k', 'previous'],
  ['Enter', 'open'],
] as const

/** The keys of one call that waits for an answer. */
export const DETAIL_KEYS = KEYS.filter(([, name]) => name !== 'open')
