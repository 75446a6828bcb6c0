import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CloudOff } from 'lucide-react'
import { useState } from 'react'

import { api, queryClient } from '~/api/client'
import { useMay } from '~/api/me'
import { RunStatus } from '~/features/result/run-status'
import { RunWaiting } from '~/features/result/run-waiting'
import { useTranslation } from '~/i18n'
import { useServerWords } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { useNow } from '~/kit/now'
import { Fault, Skeleton } from '~/kit/states'
import { duration, Moment } from '~/kit/time'

interface Props {
  run: { run_id: string; status: string; approval_id?: string | null }
  startedAt: number
  text: string
  lost: boolean
}

/** A run that is not over: how long it has taken, what it says, and the way to end it. */
export function ToolProgress({ run, startedAt, text, lost }: Props) {
  const { t } = useTranslation('tool')
  const now = useNow(1_000)
  const waits = run.status === 'needs_approval' || run.status === 'pending'
  return (
    <div className="grid min-w-0 gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <RunStatus run={run} />
        <span className="text-muted tabular-nums">{duration(seconds(now - startedAt))}</span>
        <Cancel id={run.run_id} />
      </div>
      {lost && <Lost />}
      {run.approval_id && run.status === 'needs_approval' && <Waiting id={run.approval_id} />}
      {run.status === 'pending' && <p className="text-muted">{t('pending')}</p>}
      <RunWaiting id={run.run_id} />
      {text && (
        <pre
          tabIndex={0}
          aria-label={t('live_text')}
          className="max-h-96 overflow-auto rounded-md border border-line bg-raised p-3 font-mono text-xs whitespace-pre-wrap"
        >
          {text}
        </pre>
      )}
      {!text && !waits && <Skeleton className="h-32" />}
    </div>
  )
}

/** Whole seconds, which is as often as it is drawn. */
function seconds(ms: number): number {
  return Math.max(1, Math.floor(ms / 1_000)) * 1_000
}

/** Says that the server does not answer; the page goes on by itself once it does. */
export function Lost({ onGiveUp }: { onGiveUp?: () => void }) {
  const { t } = useTranslation('tool')
  return (
    <div
      role="alert"
      className="grid gap-2 rounded-md border border-warn bg-warn-soft p-3 text-warn"
    >
      <p className="flex items-start gap-2">
        <CloudOff aria-hidden className="mt-0.5 size-4 shrink-0" />
        {t(onGiveUp ? 'lost_start' : 'lost_run')}
      </p>
      {onGiveUp && (
        <div>
          <Button size="small" onClick={onGiveUp}>
            {t('give_up')}
          </Button>
        </div>
      )}
    </div>
  )
}

/** Who decides about the run, and where. */
function Waiting({ id }: { id: string }) {
  const { t } = useTranslation('tool')
  const decides = useMay('approvals.tenant.decide')
  const reads = useMay('approvals.tenant.read')
  const { reason } = useServerWords()
  const { data } = useQuery({
    queryKey: ['approvals', 'one', id],
    queryFn: async () => (await api.GET('/api/approvals/{id}', { params: { path: { id } } })).data,
    enabled: reads,
  })
  return (
    <div className="grid gap-2 rounded-md border border-warn bg-warn-soft p-3 text-warn">
      <p>{t(decides ? 'you_decide' : 'others_decide')}</p>
      {data?.reason && <p className="break-words">{t('because', { reason: reason(data) })}</p>}
      {data?.expires_at && (
        <p>
          {t('expires')} <Moment at={data.expires_at} />
        </p>
      )}
      {reads && (
        <div>
          <Button asChild size="small">
            <Link to="/approvals/$id" params={{ id }}>
              {t('to_approval')}
            </Link>
          </Button>
        </div>
      )}
    </div>
  )
}

function Cancel({ id }: { id: string }) {
  const { t } = useTranslation('tool')
  const [state, setState] = useState<{ busy: boolean; error?: unknown }>({ busy: false })
  const own = useMay('runs.own.cancel')
  const any = useMay('runs.tenant.cancel')
  if (!own && !any) return null
  const cancel = async () => {
    setState({ busy: true })
    try {
      await api.POST('/api/runs/{id}/cancel', { params: { path: { id } }, body: {} })
      setState({ busy: false })
    } catch (error) {
      setState({ busy: false, error })
    }
    // Also after an error: it may have ended by itself in the meantime.
    void queryClient.invalidateQueries({ queryKey: ['runs'] })
  }
  return (
    <>
      <Button size="small" className="ml-auto" disabled={state.busy} onClick={cancel}>
        {t('cancel')}
      </Button>
      {state.error !== undefined && (
        <div className="w-full">
          <Fault error={state.error} />
        </div>
      )}
    </>
  )
}
