import { Link } from '@tanstack/react-router'
import { RotateCcw, ShieldQuestion } from 'lucide-react'
import type { ReactNode } from 'react'

import { useMay } from '~/api/me'
import { hasEnded, type Run, tookInAll } from '~/api/runs'
import { RunStatus } from '~/features/result/run-status'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { CopyButton } from '~/kit/copy'
import { useNow } from '~/kit/now'
import { ActorName } from '~/kit/people'
import { Moment } from '~/kit/time'
import { CancelRun } from './cancel-run'
import { TestMark } from './test-mark'
import { took } from './took'

/** What ran, how it went, and what can be done with it. */
export function RunHead({ run, children }: { run: Run; children?: ReactNode }) {
  const { t } = useTranslation('runs')
  const mayRun = useMay('tools.tenant.run')
  return (
    <header className="grid gap-4">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="grid min-w-0 gap-1">
          <p className="text-xs text-muted">
            <Link to="/runs" search={{}} className="underline underline-offset-2">
              {t('title')}
            </Link>
          </p>
          <h1 className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 text-xl font-semibold">
            <span className="min-w-0 break-all">{t('run_of', { tool: run.tool })}</span>
            <RunStatus run={run} />
            <TestMark run={run} />
          </h1>
        </div>
        <div className="flex flex-wrap gap-2">
          {run.status === 'needs_approval' && run.approval_id && (
            <Button asChild tone="primary">
              <Link to="/approvals/$id" params={{ id: run.approval_id }}>
                <ShieldQuestion aria-hidden />
                {t('to_approval')}
              </Link>
            </Button>
          )}
          {mayRun && (
            <Button asChild>
              <Link to="/tools/$slug" params={{ slug: run.tool }} search={{ run: run.run_id }}>
                <RotateCcw aria-hidden />
                {t('rerun')}
              </Link>
            </Button>
          )}
          {children}
          {!hasEnded(run.status) && <CancelRun run={run} />}
        </div>
      </div>
      <Facts run={run} />
    </header>
  )
}

function Facts({ run }: { run: Run }) {
  const { t } = useTranslation('runs')
  const now = useNow(run.status === 'running' ? 1_000 : undefined)
  const ms =
    run.status === 'running'
      ? now - Date.parse(run.started_at ?? run.requested_at)
      : run.duration_ms
  const all = tookInAll(run)
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-lg border border-line bg-raised p-4 sm:grid-cols-3 lg:grid-cols-4">
      <Fact name="tool">
        <Link
          to="/tools/$slug"
          params={{ slug: run.tool }}
          search={{}}
          className="break-all text-accent underline underline-offset-2"
        >
          {run.tool}
        </Link>
      </Fact>
      <Fact name="version">{run.version}</Fact>
      <Fact name="actor">
        <ActorName actor={run.actor} />
      </Fact>
      <Fact name="source">
        {t(`source.${run.source}`, { defaultValue: run.source })}
        {run.channel && <span className="text-muted"> ({run.channel})</span>}
      </Fact>
      <Fact name="mode">{t(`mode.${run.mode}`, { defaultValue: run.mode })}</Fact>
      <Fact name="time">
        <Moment at={run.started_at ?? run.requested_at} />
      </Fact>
      <Fact name="duration">
        {all === undefined ? took(ms) : t('at_work', { all: took(all), work: took(ms) })}
      </Fact>
      {run.parent_run_id && (
        <Fact name="parent">
          <Link
            to="/runs/$id"
            params={{ id: run.parent_run_id }}
            className="break-all text-accent underline underline-offset-2"
          >
            {run.parent_run_id}
          </Link>
        </Fact>
      )}
      <Id name="run_id" id={run.run_id} />
      {run.session_id !== run.run_id && (
        <>
          <Id name="session_id" id={run.session_id} />
          <Fact name="session">
            <Link
              to="/runs"
              search={{ session_id: run.session_id }}
              className="text-accent underline underline-offset-2"
            >
              {t('session_runs')}
            </Link>
          </Fact>
        </>
      )}
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  const { t } = useTranslation('runs')
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{t(`column.${name}`)}</dt>
      <dd className="break-words">{children}</dd>
    </div>
  )
}

function Id({ name, id }: { name: string; id: string }) {
  const { t } = useTranslation('runs')
  return (
    <div className="col-span-full min-w-0 sm:col-span-2">
      <dt className="text-xs text-muted">{t(`column.${name}`)}</dt>
      <dd className="flex min-w-0 items-center gap-1">
        <code className="min-w-0 text-xs break-all">{id}</code>
        <CopyButton text={id} name={t('copy_id', { name: t(`column.${name}`) })} />
      </dd>
    </div>
  )
}
