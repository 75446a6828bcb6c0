/** The keys of the answers; what they do is in the texts of the approvals, whose neighbours they are. */
export const KEYS = [
  ['j', 'next'],
  ['k', 'previous'],
  ['Enter', 'open'],
  ['?', 'sheet'],
] as const
