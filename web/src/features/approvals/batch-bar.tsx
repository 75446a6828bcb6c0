import { Check, X } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import type { Decision } from './approval-queries'

interface Props {
  count: number
  onDecide: (kind: Decision['kind']) => void
  onClear: () => void
}

/** What can be done with those that are ticked. It stays in sight however long the list is. */
export function BatchBar({ count, onDecide, onClear }: Props) {
  const { t } = useTranslation('approvals')
  return (
    <section
      aria-label={t('batch.label')}
      className="sticky bottom-3 z-20 flex flex-wrap items-center gap-2 rounded-lg border border-line-strong bg-ground p-3 shadow-lg"
    >
      <div className="flex flex-1 basis-full items-center justify-between gap-2 sm:basis-auto">
        <p aria-live="polite" className="font-medium">
          {t('batch.selected', { count })}
        </p>
        <Button tone="quiet" onClick={onClear}>
          {t('batch.clear')}
        </Button>
      </div>
      <Button tone="danger" className="flex-1 sm:flex-none" onClick={() => onDecide('deny')}>
        <X aria-hidden />
        {t('batch.deny', { count })}
      </Button>
      <Button tone="primary" className="flex-1 sm:flex-none" onClick={() => onDecide('approve')}>
        <Check aria-hidden />
        {t('batch.approve', { count })}
      </Button>
    </section>
  )
}
