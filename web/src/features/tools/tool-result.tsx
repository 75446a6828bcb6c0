import { Link } from '@tanstack/react-router'
import { type RefObject, useEffect, useState } from 'react'

import { Problem } from '~/api/problem'
import { statusOf } from '~/features/result/run-status'
import { Stale } from '~/features/result/stale'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { CopyButton } from '~/kit/copy'
import { lazyPart } from '~/kit/lazy-part'
import { Empty, Fault, Skeleton } from '~/kit/states'
import type { Tool } from './queries'
import { Lost, ToolProgress } from './tool-progress'
import type { useShownRun } from './tool-shown-run'
import type { Start } from './tool-start'

const loadResult = () => import('~/features/result/run-result')
const RunResult = lazyPart(loadResult, (module) => module.RunResult)

interface Props {
  ref: RefObject<HTMLElement | null>
  tool: Tool
  runnable: boolean
  start: Start
  shown: ReturnType<typeof useShownRun>
  /** Whether the form holds something else than the shown run was asked with. */
  isChanged: boolean
  onGiveUp: () => void
  /** Where to go on after signing in again: this page, with the form as it is. */
  here: () => string
}

/** The panel beside the form. */
export function ToolResult({ ref, ...props }: Props) {
  const { start, shown } = props
  const { t } = useTranslation('tool')
  const { run } = shown
  const fits = useFits(ref)
  useEffect(() => {
    // What shows a result is there before the tool runs, for the server may be away then. If it does not come, that is
    // said in its place.
    loadResult().catch(() => undefined)
  }, [])
  return (
    <section
      ref={ref}
      aria-labelledby="result"
      aria-busy={start.state !== 'idle' || shown.open}
      className={cn(
        'grid min-w-0 gap-4 rounded-lg border border-line p-4 sm:p-5',
        fits && 'lg:sticky lg:top-20',
      )}
    >
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 id="result" className="text-base font-semibold">
          {t('result')}
        </h2>
        {run && (
          <span className="flex items-center gap-1">
            <Link to="/runs/$id" params={{ id: run.run_id }} className="text-accent underline">
              {t('details')}
            </Link>
            <CopyButton text={run.run_id} name={t('copy_run_id')} />
          </span>
        )}
      </div>
      <Announcement start={start} shown={shown} />
      <Content {...props} />
    </section>
  )
}

/** Room for the header of the page above, and some below. */
const AROUND = 120

/** Whether all of the result can be seen at once; then it stays beside a long form. */
function useFits(box: RefObject<HTMLElement | null>): boolean {
  const [fits, setFits] = useState(false)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(() => setFits(element.offsetHeight <= innerHeight - AROUND))
    observer.observe(element)
    return () => observer.disconnect()
  }, [box])
  useEffect(() => {
    // What has grown too large to stay beside the form would be left behind above it.
    if (!fits && (box.current?.getBoundingClientRect().top ?? 0) < 0) {
      box.current?.scrollIntoView({ block: 'start' })
    }
  }, [box, fits])
  return fits
}

function Content(props: Omit<Props, 'ref'>) {
  const { tool, runnable, start, shown, isChanged, onGiveUp, here } = props
  const { t } = useTranslation('tool')
  const { run, record } = shown
  if (start.state === 'lost') return <Lost onGiveUp={onGiveUp} />
  if (start.error !== undefined) return <Refused error={start.error} here={here} />
  if (start.state === 'asking') return <Skeleton className="h-40" />
  if (shown.foreign) return <Empty title={t('foreign_run')} />
  if (run && shown.open) {
    const startedAt = record
      ? new Date(record.started_at ?? record.requested_at).getTime()
      : Date.now()
    return <ToolProgress run={run} startedAt={startedAt} text={shown.text} lost={shown.lost} />
  }
  if (run) {
    return (
      <>
        <div role="status" className="empty:hidden">
          {isChanged && <Stale text={t('stale_result')} />}
        </div>
        <RunResult fallback={<Skeleton className="h-40" />} run={run} tool={tool} />
      </>
    )
  }
  if (shown.error) return <Fault error={shown.error} onRetry={shown.retry} />
  return <Empty title={t('no_result')}>{t(runnable ? 'no_result_hint' : 'no_result_to_see')}</Empty>
}

/** The server did not run the tool, and says why; where the fields are at fault, they say it, too. */
function Refused({ error, here }: { error: unknown; here: () => string }) {
  const { t } = useTranslation('tool')
  const faulty = error instanceof Problem && error.errors.length > 0
  return (
    <div className="grid gap-2">
      <Fault error={error} />
      {faulty && <p className="text-muted">{t('see_fields')}</p>}
      {error instanceof Problem && error.status === 401 && (
        <div>
          <Button asChild tone="primary">
            <Link to="/sign-in" search={{ next: here() }}>
              {t('sign_in_again')}
            </Link>
          </Button>
        </div>
      )}
      {error instanceof Problem && /^[A-Z_]+$/.test(error.code) && error.status > 0 && (
        <p className="text-xs text-muted">
          <Link to="/docs/$" params={{ _splat: `errors/${error.code}` }} className="underline">
            {t('about_code', { code: error.code })}
          </Link>
        </p>
      )}
    </div>
  )
}

/** What a screen reader says when something changes. */
function Announcement({ start, shown }: Pick<Props, 'start' | 'shown'>) {
  const { t } = useTranslation(['tool', 'result'])
  const { run } = shown
  const status = run ? t(`result:status.${statusOf(run)}`) : ''
  const said = run?.summary || run?.error
  const text = start.state === 'asking' ? t('result:status.running') : status
  return (
    <p role="status" className="sr-only">
      {start.error === undefined && text && (said ? `${text}: ${said}` : text)}
    </p>
  )
}
