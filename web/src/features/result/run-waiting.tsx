import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Bot, ExternalLink, MessageSquareReply } from 'lucide-react'

import { useMay } from '~/api/me'
import { treeOf, waitingIn } from '~/api/run-tree'
import { hasEnded, type Run, runOf } from '~/api/runs'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Moment } from '~/kit/time'

interface Props {
  id: string
  /** Whether ways from here open beside the page, because it holds what is not saved. */
  newTab?: boolean
}

/** For whom a run waits, itself or inside, and the way to answer where that is a person. */
export function RunWaiting({ id, newTab = false }: Props) {
  const { data: run } = useQuery(runOf(id))
  if (!run || (hasEnded(run.status) && !run.pending_tool_call)) return null
  return <Waiting run={run} newTab={newTab} />
}

function Waiting({ run, newTab }: { run: Run; newTab: boolean }) {
  const { t } = useTranslation('runs')
  const answers = useMay('tools.tenant.run')
  const { data: inside = [] } = useQuery(treeOf(run))
  const isLate = hasEnded(run.status)
  const place = newTab ? { target: '_blank', rel: 'noopener' } : {}
  const beside = newTab && <span className="sr-only"> {t('waiting.new_tab')}</span>
  return waitingIn([run, ...inside]).map(({ run_id, tool, call }) => {
    const isPerson = call.waits_for === 'person'
    const Icon = isPerson ? MessageSquareReply : Bot
    return (
      <div
        key={call.id}
        className="grid min-w-0 justify-items-start gap-2 rounded-md border border-warn bg-warn-soft p-3 text-warn"
      >
        <p className="flex min-w-0 items-start gap-2">
          <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
          <span className="min-w-0 break-words">
            {t(`waiting.${isPerson ? 'person' : 'worker'}`, { tool })}
            {isLate && ` ${t('waiting.late')}`} {t('waiting.until')} <Moment at={call.expires_at} />
            .
          </span>
        </p>
        {isPerson && answers ? (
          <Button asChild size="small">
            <Link to="/approvals/answers/$id" params={{ id: call.id }} {...place}>
              {t('waiting.answer')}
              {newTab && <ExternalLink aria-hidden />}
              {beside}
            </Link>
          </Button>
        ) : (
          run_id !== run.run_id && (
            <Link to="/runs/$id" params={{ id: run_id }} {...place} className="underline">
              {t('waiting.to_run')}
              {beside}
            </Link>
          )
        )}
      </div>
    )
  })
}
