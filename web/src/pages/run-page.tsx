import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { treeOf } from '~/api/run-tree'
import { hasEnded, type Run, runOf } from '~/api/runs'
import { toolAt } from '~/api/tool-at'
import { MakeCase } from '~/features/admin/cases/make-case'
import { RunResult } from '~/features/result/run-result'
import { RunWaiting } from '~/features/result/run-waiting'
import { ByStanding } from '~/features/runs/by-standing'
import { LateResult } from '~/features/runs/late-result'
import { useRunEvents } from '~/features/runs/run-events'
import { RunHead } from '~/features/runs/run-head'
import { RunInput } from '~/features/runs/run-input'
import { EventList, StreamedOutput } from '~/features/runs/run-log'
import { RunProgress } from '~/features/runs/run-progress'
import { WaterfallChart } from '~/features/runs/waterfall-chart'
import { useTranslation } from '~/i18n'
import { Fault, Loading, Skeleton } from '~/kit/states'
import { usePageName } from '~/kit/title'

const route = getRouteApi('/inside/runs/$id')

export default function RunPage() {
  const { t } = useTranslation('runs')
  const { id } = route.useParams()
  const { data: run, error, refetch } = useQuery(runOf(id))
  if (run) return <RunDetail key={id} run={run} />
  if (!error) return <Loading />
  return (
    <div className="grid gap-4">
      <h1 className="text-xl font-semibold">{t('run')}</h1>
      <Fault error={error} onRetry={() => void refetch()} />
    </div>
  )
}

function RunDetail({ run }: { run: Run }) {
  const { t } = useTranslation()
  const isOpen = !hasEnded(run.status)
  const events = useRunEvents(run)
  const { data: steps = [] } = useQuery(treeOf(run))
  const { data: tool } = useQuery(toolAt(run.tool, run.version))
  usePageName(t('title.run_of', { tool: tool?.name ?? run.tool }))
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-6">
      <RunHead run={run}>
        <MakeCase run={run} tool={tool} />
      </RunHead>
      <ByStanding events={events.data ?? []} />
      <RunWaiting id={run.run_id} />
      <Section name="waterfall.title">
        {events.data ? (
          <WaterfallChart events={events.data} steps={steps} isOpen={isOpen} />
        ) : (
          <Skeleton className="h-12" />
        )}
      </Section>
      <div className="grid min-w-0 gap-6 lg:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
        <RunInput run={run} />
        <Section name="result" live>
          {isOpen && <RunProgress events={events.data ?? []} />}
          <RunResult run={run} tool={tool} />
          {run.late_result !== undefined && <LateResult late={run.late_result} tool={tool} />}
        </Section>
      </div>
      <StreamedOutput events={events.data ?? []} />
      <Section name="events">
        {events.error && <Fault error={events.error} onRetry={() => void events.refetch()} />}
        {events.data && <EventList events={events.data} />}
      </Section>
    </div>
  )
}

function Section({
  name,
  live,
  children,
}: {
  name: string
  /** Whether what changes inside is to be told. */
  live?: boolean
  children: ReactNode
}) {
  const { t } = useTranslation('runs')
  const id = name.replace('.', '-')
  return (
    <section aria-labelledby={id} className="grid min-w-0 content-start gap-3">
      <h2 id={id} className="text-base font-semibold">
        {t(name)}
      </h2>
      <div aria-live={live ? 'polite' : undefined} className="min-w-0">
        {children}
      </div>
    </section>
  )
}
