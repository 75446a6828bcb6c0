/** The keys of the approvals, and what they do. */
export const KEYS = [
  ['j', 'next'],
  ['k', 'previous'],
  ['Enter', 'open'],
  ['x', 'select'],
  ['a', 'approve'],
  ['d', 'deny'],
  ['e', 'edit'],
  ['?', 'sheet'],
] as const
