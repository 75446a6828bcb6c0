import { Link } from '@tanstack/react-router'

import type { TreeRun } from '~/api/run-tree'
import { RunStatus } from '~/features/result/run-status'
import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'
import { useNow } from '~/kit/now'
import { duration } from '~/kit/time'
import type { RunEvent } from './queries'
import { type Bar, type Phase, waterfall } from './waterfall'

const colours: Record<Phase, string> = {
  approval: 'bg-warn',
  queue: 'bg-line-strong',
  run: 'bg-accent',
  step: 'bg-good',
}

/** A step that has not gone well, or has not gone yet, is not green. */
const stepColours: Record<string, string> = {
  running: 'bg-accent',
  pending: 'bg-warn',
  needs_approval: 'bg-warn',
  error: 'bg-bad',
  timed_out: 'bg-bad',
  cancelled: 'bg-line-strong',
}

/** Where the time of a run went. */
export function WaterfallChart({
  events,
  steps,
  isOpen,
}: {
  events: RunEvent[]
  steps: TreeRun[]
  isOpen: boolean
}) {
  const { t } = useTranslation('runs')
  const now = useNow(isOpen ? 1_000 : undefined)
  const fall = waterfall(events, steps, now)
  if (!fall) return <p className="text-muted">{t('waterfall.none')}</p>
  const total = Math.max(1, fall.to - fall.from)
  return (
    <ol className="grid gap-2">
      {fall.bars.map((bar) => (
        <BarRow key={bar.step?.run_id ?? bar.phase} bar={bar} from={fall.from} total={total} />
      ))}
    </ol>
  )
}

function BarRow({ bar, from, total }: { bar: Bar; from: number; total: number }) {
  const { t } = useTranslation('runs')
  const left = ((bar.from - from) / total) * 100
  // A bar too short to be seen is still there.
  const width = Math.max(((bar.to - bar.from) / total) * 100, 0.75)
  const time = duration(bar.to - bar.from)
  return (
    <li className="grid min-w-0 grid-cols-[1fr_auto] items-center gap-x-3 sm:grid-cols-[18rem_1fr_6rem]">
      <span
        className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5 break-words"
        style={{ paddingLeft: `${bar.depth ?? 0}rem` }}
      >
        {bar.step ? (
          <>
            <Link
              to="/runs/$id"
              params={{ id: bar.step.run_id }}
              className="min-w-0 break-all text-accent underline underline-offset-2"
            >
              {bar.step.tool}
            </Link>
            <RunStatus run={bar.step} />
            {(bar.depth ?? 0) > 0 && (
              <span className="sr-only">
                {t('waterfall.depth', { depth: (bar.depth ?? 0) + 1 })}
              </span>
            )}
          </>
        ) : (
          t(`waterfall.${bar.phase}`)
        )}
      </span>
      <span
        aria-hidden
        className="col-span-full row-start-2 h-3 overflow-hidden rounded-sm bg-sunken sm:col-span-1 sm:col-start-2 sm:row-start-1"
      >
        <span
          className={cn(
            'block h-full rounded-sm',
            stepColours[bar.step?.status ?? ''] ?? colours[bar.phase],
            bar.open && 'animate-pulse',
          )}
          style={{ marginLeft: `${Math.min(left, 99.25)}%`, width: `${width}%` }}
        />
      </span>
      <span className="text-right text-xs whitespace-nowrap tabular-nums text-muted">
        {bar.open ? t('waterfall.so_far', { time }) : time}
      </span>
    </li>
  )
}
