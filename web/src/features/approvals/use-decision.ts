import { type RefObject, useState } from 'react'

import { Problem } from '~/api/problem'
import { useFaultsOf } from '~/i18n/server-words'
import { useKept } from '~/kit/kept'
import { useOvertaken } from '~/kit/use-overtaken'
import { diff } from './diff'
import { type Approval, type Decision, useDecide } from './approval-queries'
import { isOfStanding } from './standing'

/** The step before the decision is sent, if there is one. */
export type Asking = { kind: Decision['kind']; input?: unknown; isStanding?: boolean }

/**
 * What a person is about to decide: their changes and their note, which are kept until they are sent,
 * and what the server made of it.
 */
export function useDecision(
  approval: Approval,
  outcome: RefObject<HTMLElement | null>,
  mayDecide: boolean,
) {
  const [draft, setDraft] = useKept<unknown>(`approval-input:${approval.id}`)
  const [note = '', setNote] = useKept<string>(`approval-note:${approval.id}`)
  const [editing, setEditing] = useState(draft !== undefined)
  const [asking, setAsking] = useState<Asking>()
  const decide = useDecide(approval.id)
  const problem = decide.error instanceof Problem ? decide.error : undefined
  const faults = useFaultsOf(decide.error)

  const isDone = approval.status !== 'pending'
  const canEnd = mayDecide && !isDone
  const isOvertaken = useOvertaken({ canEnd, isDone, sent: decide, heading: outcome })
  const forbidden = problem?.status === 403 ? problem : undefined

  const send = (decision: Decision) =>
    decide.mutate(decision, {
      onSuccess: () => {
        setDraft(undefined)
        setNote(undefined)
        setEditing(false)
        setAsking(undefined)
      },
      onError: (error) => {
        // What is wrong with the input is shown in the form, what was decided by others in the page.
        // What is wrong with later calls is told in the dialog, where they were chosen.
        if (isOfStanding(error)) return
        if (error instanceof Problem && error.status >= 400 && error.status < 500) {
          setAsking(undefined)
        }
      },
    })

  return {
    input: draft ?? approval.input,
    change: setDraft,
    isChanged: draft !== undefined && diff(approval.input, draft).length > 0,
    note,
    setNote: (note: string) => setNote(note || undefined),
    editing,
    edit: () => setEditing(true),
    discard: () => {
      setDraft(undefined)
      setEditing(false)
      decide.reset()
    },
    asking,
    ask: (asking: Asking | undefined) => {
      decide.reset()
      setAsking(asking)
    },
    send,
    // What was taken is not sent twice, also where the approval could not be read anew.
    busy: decide.isPending || decide.isSuccess,
    error: decide.error,
    faults,
    /** Somebody or something was faster: than a decision that was sent, or before there was one. */
    overtaken: isOvertaken && !forbidden ? (problem ? 'decision' : 'person') : undefined,
    /** Why this person may not decide on this one. */
    forbidden,
  }
}
