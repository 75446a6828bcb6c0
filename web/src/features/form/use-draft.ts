import { useEffectEvent, useLayoutEffect, useState } from 'react'

import type { FormModel } from './model'
import { same } from './schema/json'

interface Held {
  /** What the fields hold, the emptied ones included. */
  draft: unknown
  /** What is sent of it. */
  sent: unknown
  /** What was given from outside when we last looked. */
  given: unknown
  /** Whether a person has changed it since. */
  typed: boolean
}

/**
 * The value while it is edited. Outside there is only what would be sent; here is also what was
 * emptied, and what a condition hides for the moment, so that it comes back with it.
 */
export function useDraft(
  model: FormModel,
  value: unknown,
  onChange: (value: unknown, typed: boolean) => void,
  readOnly: boolean,
) {
  const hold = (given: unknown): Held => {
    if (readOnly) return { draft: given, sent: given, given, typed: false }
    const draft = model.filled(given) ?? (model.isForm ? undefined : {})
    return { draft, sent: model.cleaned(draft), given, typed: false }
  }
  const [held, setHeld] = useState(() => hold(value))
  if (same(value, held.sent)) {
    if (value !== held.given) setHeld({ ...held, given: value })
  } else if (!same(value, held.given)) {
    setHeld(hold(value))
  }

  const tell = useEffectEvent((sent: unknown) => {
    if (!readOnly && !same(sent, value)) onChange(sent, held.typed)
  })
  // Before anything else can happen: a value that comes from outside meanwhile, such as an example, would be written over.
  useLayoutEffect(() => tell(held.sent), [held.sent])

  return {
    draft: held.draft,
    sent: held.sent,
    /** Takes what the fields hold now. */
    edit: (next: unknown) => {
      setHeld((before) => {
        if (same(next, before.draft) && sameKeys(next, before.draft)) return before
        const draft = model.filledWhereNew(next, before.draft)
        return { ...before, draft, sent: model.cleaned(draft), typed: true }
      })
    },
    /** Takes a value as it is, as it was written. */
    replace: (next: unknown) =>
      setHeld((before) => ({ ...before, draft: next, sent: next, typed: true })),
  }
}

/** An emptied field is not the same as one that was never there: the latter has its default. */
function sameKeys(left: unknown, right: unknown): boolean {
  return JSON.stringify(keys(left)) === JSON.stringify(keys(right))
}

function keys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(keys)
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).map(([name, member]) => [name, keys(member)])
}
