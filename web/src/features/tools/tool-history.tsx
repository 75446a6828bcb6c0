import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Eye, RotateCcw } from 'lucide-react'

import type { Run } from '~/api/runs'
import { RunStatus } from '~/features/result/run-status'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { Fault, Skeleton } from '~/kit/states'
import { duration, Moment } from '~/kit/time'
import { runsOfTool } from './queries'

interface Props {
  slug: string
  /** The run that is shown. */
  shown?: string
  runnable: boolean
}

/** The newest runs of the tool; each can be opened here, with its input in the form. */
export function ToolHistory({ slug, shown, runnable }: Props) {
  const { t } = useTranslation('tool')
  const { data, error, refetch } = useQuery(runsOfTool(slug))
  return (
    <section
      aria-labelledby="history"
      className="grid min-w-0 grid-cols-[minmax(0,1fr)] content-start gap-3"
    >
      <div className="flex flex-wrap items-baseline justify-between gap-2">
        <h2 id="history" className="text-base font-semibold">
          {t('history')}
        </h2>
        {data && data.items.length > 0 && (
          <Link to="/runs" search={{ tool: slug }} className="text-accent underline">
            {t('all_runs')}
          </Link>
        )}
      </div>
      {error && !data && <Fault error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-24" />}
      {data?.items.length === 0 && <p className="text-muted">{t('no_runs')}</p>}
      {data && data.items.length > 0 && (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {data.items.map((run) => (
            <Entry key={run.run_id} run={run} shown={run.run_id === shown} runnable={runnable} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Entry({ run, shown, runnable }: { run: Run; shown: boolean; runnable: boolean }) {
  const { t } = useTranslation('tool')
  return (
    <li
      aria-current={shown || undefined}
      className={cn('flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2', shown && 'bg-raised')}
    >
      <RunStatus run={run} />
      <Link to="/runs/$id" params={{ id: run.run_id }} className="underline">
        <Moment at={run.started_at ?? run.requested_at} />
      </Link>
      {typeof run.duration_ms === 'number' && (
        <span className="text-muted">{duration(run.duration_ms)}</span>
      )}
      <Button asChild size="small" tone="quiet" className="ml-auto">
        <Link to="/tools/$slug" params={{ slug: run.tool }} search={{ run: run.run_id }}>
          {runnable ? <RotateCcw aria-hidden /> : <Eye aria-hidden />}
          {t(runnable ? 'rerun' : 'open')}
        </Link>
      </Button>
      {(run.summary || run.error) && (
        <p className="w-full truncate text-xs text-muted">{run.summary || run.error}</p>
      )}
    </li>
  )
}
