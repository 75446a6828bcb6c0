import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

import { Problem } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { detailOf, useServerWords } from '~/i18n/server-words'
import { Button } from './button'
import { cn } from './cn'
import { useServerBack } from './server-back'

/** Nothing here yet, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="grid justify-items-center gap-3 rounded-lg border border-dashed border-line px-6 py-12 text-center">
      <p className="text-base font-medium">{title}</p>
      {children && <div className="max-w-prose text-muted">{children}</div>}
    </div>
  )
}

export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cn('animate-pulse rounded-md bg-sunken', className)} />
}

/** A page that is on its way. */
export function Loading() {
  const { t } = useTranslation()
  return (
    <div role="status" aria-label={t('loading')} className="grid gap-3">
      <Skeleton className="h-8 w-56" />
      <Skeleton className="h-24" />
      <Skeleton className="h-24" />
    </div>
  )
}

/** What went wrong, and the id under which the server's log knows it. What could not be asked is asked again by itself. */
export function Fault({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t } = useTranslation()
  const words = useServerWords()
  const problem = error instanceof Problem ? error : undefined
  const isAway = problem?.status === 0
  useServerBack(isAway && onRetry !== undefined, () => onRetry?.())
  const text = isAway ? t('unreachable') : problem && words.problem(problem)
  const detail = problem && detailOf(problem)
  return (
    <div role="alert" className="grid gap-2 rounded-lg border border-bad bg-bad-soft p-4 text-bad">
      <p className="flex items-start gap-2 font-medium">
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
        <span className="min-w-0 break-words">{text ?? t('broken')}</span>
      </p>
      {detail && detail !== text && <p className="break-words">{detail}</p>}
      {problem?.requestId && (
        <p className="text-xs">{t('request_id', { id: problem.requestId })}</p>
      )}
      {onRetry && (
        <div>
          <Button size="small" onClick={onRetry}>
            {t('try_again')}
          </Button>
        </div>
      )}
    </div>
  )
}
