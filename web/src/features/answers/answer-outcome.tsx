import type { RefObject } from 'react'

import { actorOf } from '~/api/actor'
import { useMe } from '~/api/me'
import type { Shown } from '~/features/result/blocks'
import { Said } from '~/features/result/said'
import { useTranslation } from '~/i18n'
import { useNaming } from '~/kit/people'
import type { Asked } from './answer-queries'

interface Props {
  call: Asked
  tool: Shown | undefined
  heading: RefObject<HTMLHeadingElement | null>
}

/** How it ended, by whom, and what was answered, where that is for this person to see. */
export function AnswerOutcome({ call, tool, heading }: Props) {
  const { t } = useTranslation('answers')
  const name = useNaming()
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
      {call.result != null && <Said said={call.result} tool={tool} level={3} />}
    </section>
  )
}
