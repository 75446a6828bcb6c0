import { Link } from '@tanstack/react-router'
import { CornerDownRight } from 'lucide-react'
import type { RefObject } from 'react'

import type { Run } from '~/api/runs'
import { RunStatus } from '~/features/result/run-status'
import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'
import { ActorName } from '~/kit/people'
import { ScrollBox } from '~/kit/scroll-box'
import { Moment } from '~/kit/time'
import { useWide } from '~/kit/wide'
import { TestMark } from './test-mark'
import { took } from './took'

interface Props {
  runs: Run[]
  /** The ids of those that have come by themselves. */
  fresh: Set<string>
  box: RefObject<HTMLElement | null>
}

/** Runs as a table, or as cards where a table has no room. */
export function RunsList(props: Props) {
  return useWide() ? <RunsTable {...props} /> : <RunCards {...props} />
}

const COLUMNS = ['time', 'tool', 'status', 'source', 'actor', 'duration'] as const

function RunsTable({ runs, fresh, box }: Props) {
  const { t } = useTranslation('runs')
  return (
    <ScrollBox ref={box} label={t('list')} className="rounded-lg">
      <table className="w-full border-collapse text-left">
        <thead className="border-b border-line bg-raised text-xs text-muted">
          <tr>
            {COLUMNS.map((column) => (
              <th
                key={column}
                scope="col"
                className={cn('px-3 py-2 font-medium', column === 'duration' && 'text-right')}
              >
                {t(`column.${column}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr
              key={run.run_id}
              className={cn(
                'border-b border-line last:border-0 hover:bg-raised',
                fresh.has(run.run_id) && 'bg-accent-soft',
              )}
            >
              <td className="px-3 py-2 text-muted">
                <Moment at={run.started_at ?? run.requested_at} />
              </td>
              <th scope="row" className="px-3 py-2 font-medium">
                <RunLink run={run} />
              </th>
              <td className="px-3 py-2">
                <RunStatus run={run} />
              </td>
              <td className="px-3 py-2">
                {t(`source.${run.source}`, { defaultValue: run.source })}
              </td>
              <td className="px-3 py-2">
                <ActorName actor={run.actor} />
              </td>
              <td className="px-3 py-2 text-right tabular-nums">{took(run.duration_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

function RunCards({ runs, fresh, box }: Props) {
  const { t } = useTranslation('runs')
  return (
    <section ref={box} aria-label={t('list')}>
      <ul className="grid gap-2">
        {runs.map((run) => (
          <li
            key={run.run_id}
            className={cn(
              'grid min-w-0 gap-2 rounded-lg border border-line p-3',
              fresh.has(run.run_id) && 'bg-accent-soft',
            )}
          >
            <div className="flex min-w-0 items-start justify-between gap-2">
              <span className="min-w-0 font-medium">
                <RunLink run={run} />
              </span>
              <RunStatus run={run} />
            </div>
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
              <Moment at={run.started_at ?? run.requested_at} />
              <span>{t(`source.${run.source}`, { defaultValue: run.source })}</span>
              <ActorName actor={run.actor} />
              <span>{took(run.duration_ms)}</span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function RunLink({ run }: { run: Run }) {
  const { t } = useTranslation('runs')
  return (
    <>
      <Link
        to="/runs/$id"
        params={{ id: run.run_id }}
        data-run={run.run_id}
        className="break-all underline-offset-2 hover:underline"
      >
        {run.tool}
      </Link>
      {run.mode === 'debug' && (
        <span className="ml-2">
          <TestMark run={run} />
        </span>
      )}
      {run.parent_run_id && (
        <span className="flex items-center gap-1 text-xs font-normal text-muted">
          <CornerDownRight aria-hidden className="size-3.5 shrink-0" />
          {t('inside')}
        </span>
      )}
    </>
  )
}
