import { Link } from '@tanstack/react-router'
import { Pencil, Play, Trash2 } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Moment } from '~/kit/time'
import { CaseBadge, DiffTable } from './case-parts'
import { partsOf } from './expect'
import type { CaseResult, TestCase } from './queries'
import type { CaseState } from './state'

interface Props {
  of: TestCase
  state: CaseState
  /** How it went just now. */
  result: CaseResult | undefined
  isRunning: boolean
  /** For those who may run the tool. */
  onRun: (() => void) | undefined
  onEdit: () => void
  onRemove: () => void
}

/** One test case: how it went last, what differed, and what can be done with it. */
export function CaseRow({ of, state, result, isRunning, onRun, onEdit, onRemove }: Props) {
  const { t } = useTranslation('cases')
  const { name, expect, last_result } = of
  const runId = result ? result.run_id : last_result?.run_id
  return (
    <li className="grid min-w-0 gap-3 rounded-lg border border-line p-3">
      <div className="flex min-w-0 flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="grid min-w-0 flex-1 basis-60 gap-1">
          <h3 className="flex min-w-0 flex-wrap items-center gap-2 font-medium">
            <span className="min-w-0 break-words">{name}</span>
            <CaseBadge state={state} />
          </h3>
          <p className="text-xs text-muted">
            {t('checks', {
              parts: partsOf(expect)
                .map((part) => t(`part.${part}`))
                .join(', '),
            })}
            {last_result && (
              <>
                {' · '}
                {t('last_run')} <Moment at={last_result.at} />
              </>
            )}
            {runId && (
              <>
                {' · '}
                <Link
                  to="/runs/$id"
                  params={{ id: runId }}
                  className="text-accent underline underline-offset-2"
                >
                  {t('to_run')}
                </Link>
              </>
            )}
          </p>
        </div>
        <div className="flex flex-wrap gap-1">
          {onRun && (
            <Button size="small" disabled={isRunning} onClick={onRun}>
              <Play aria-hidden />
              {t(isRunning ? 'running' : 'run')}
              <span className="sr-only"> {name}</span>
            </Button>
          )}
          <Button size="small" onClick={onEdit}>
            <Pencil aria-hidden />
            {t('change')}
            <span className="sr-only"> {name}</span>
          </Button>
          <Button size="small" tone="quiet" onClick={onRemove}>
            <Trash2 aria-hidden />
            {t('remove')}
            <span className="sr-only"> {name}</span>
          </Button>
        </div>
      </div>
      {result && result.diff.length > 0 && <DiffTable of={name} diff={result.diff} />}
      {!result && state === 'failed' && (
        <p className="text-xs text-muted">{t('run_for_differences')}</p>
      )}
    </li>
  )
}
