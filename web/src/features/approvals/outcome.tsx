import { useQuery } from '@tanstack/react-query'
import type { RefObject } from 'react'

import { actorOf, useMayReadRunOf } from '~/api/actor'
import { useMe } from '~/api/me'
import { runOf } from '~/api/runs'
import { toolAt } from '~/api/tool-at'
import { RunResult } from '~/features/result/run-result'
import { useTranslation } from '~/i18n'
import { useNaming } from '~/kit/people'
import { Moment } from '~/kit/time'
import type { Approval } from './approval-queries'
import { ChangesTable } from './changes-table'
import { ApprovalStatus } from './words'

/** How it was decided, by whom, and what came of it. */
export function Outcome({
  approval,
  heading,
}: {
  approval: Approval
  heading: RefObject<HTMLHeadingElement | null>
}) {
  const { t } = useTranslation('approvals')
  const how = useOutcomeWords(approval)
  const mayReadRun = useMayReadRunOf(approval.requested_by)
  const { data: run } = useQuery({ ...runOf(approval.run_id), enabled: mayReadRun })
  const { data: tool } = useQuery(toolAt(approval.tool, approval.version))
  const { status, decided_at, note, changes } = approval
  return (
    <section
      aria-labelledby="outcome"
      className="grid min-w-0 gap-4 rounded-lg border border-line p-4"
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <ApprovalStatus status={status} />
        <h2
          id="outcome"
          ref={heading}
          tabIndex={-1}
          className="min-w-0 text-base font-semibold break-words outline-none"
        >
          {how}
        </h2>
        {decided_at && (
          <span className="text-xs text-muted">
            <Moment at={decided_at} />
          </span>
        )}
      </div>
      {note && <Note text={note} />}
      {changes && changes.length > 0 && (
        <div className="grid gap-2">
          <h3 className="font-medium">{t('changes_made')}</h3>
          <ChangesTable changes={changes} tool={tool} input={approval.input} />
        </div>
      )}
      {run && (
        <div className="grid min-w-0 gap-2">
          <h3 className="font-medium">{t('result')}</h3>
          <RunResult run={run} tool={tool} level={4} />
        </div>
      )}
    </section>
  )
}

/** How it ended and by whom, in a few words. */
export function useOutcomeWords({ status, decided_by }: Approval): string {
  const { t } = useTranslation('approvals')
  const name = useNaming()
  const me = useMe().principal.user_id
  if (!decided_by) return t(`outcome.${status}`, { defaultValue: status })
  const decider = actorOf(decided_by)
  const how = decider.id === me ? `${status}_you` : `${status}_by`
  return t(`outcome.${how}`, { who: name(decider), defaultValue: status })
}

/** What whoever decided said to it. */
export function Note({ text }: { text: string }) {
  const { t } = useTranslation('approvals')
  return (
    <blockquote className="border-l-2 border-line-strong pl-3 break-words whitespace-pre-wrap">
      <span className="sr-only">{t('note_said')} </span>
      {text}
    </blockquote>
  )
}
