import { useQuery } from '@tanstack/react-query'
import type { RefObject } from 'react'
import { useTranslation } from 'react-i18next'

import { useMe } from '~/api/me'
import { RunResult } from '~/features/result/run-result'
import { LateResult } from '~/features/runs/late-result'
import { actorOf, useNaming } from '~/features/runs/people'
import { runOf, toolAt } from '~/features/runs/queries'
import type { Asked } from './answer-queries'

interface Props {
  call: Asked
  heading: RefObject<HTMLHeadingElement | null>
}

/** How it ended, by whom, and what came of it. */
export function AnswerOutcome({ call, heading }: Props) {
  const { t } = useTranslation('answers')
  const name = useNaming()
  const { data: run } = useQuery(runOf(call.run_id))
  const { data: tool } = useQuery(toolAt(call.tool, call.version))
  const by = call.answered_by ? actorOf(call.answered_by) : undefined
  const isMe = by?.id !== undefined && by.id === useMe().principal.user_id
  const how =
    call.status === 'resolved' && by ? (isMe ? 'resolved_you' : 'resolved_by') : call.status
  return (
    <section
      aria-labelledby="outcome"
      className="grid min-w-0 gap-4 rounded-lg border border-line p-4"
    >
      <h2
        id="outcome"
        ref={heading}
        tabIndex={-1}
        className="min-w-0 text-base font-semibold break-words outline-none"
      >
        {t(`outcome.${how}`, { who: by && name(by), defaultValue: call.status })}
      </h2>
      {run && <RunResult run={run} tool={tool} level={3} />}
      {run?.late_result !== undefined && <LateResult late={run.late_result} tool={tool} />}
    </section>
  )
}
