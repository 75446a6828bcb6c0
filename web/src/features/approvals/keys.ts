/** The keys of the list of approvals, and what they do. */
export const KEYS = [
  ['j', 'next'],
  ['k', 'previous'],
  ['Enter', 'open'],
  ['x', 'select'],
  ['a', 'approve'],
  ['d', 'deny'],
  ['e', 'edit'],
] as const

/** The keys of one approval. */
export const DETAIL_KEYS = KEYS.filter(([, name]) => name !== 'open' && name !== 'select')
