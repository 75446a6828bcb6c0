import { CircleSlash, RotateCcw } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import type { LinkFault } from './tool-input'

/** Why the form is not filled, although the address says with what. */
export function LinkFaultNote({ fault }: { fault: LinkFault }) {
  const { t } = useTranslation('tool')
  return (
    <p
      role="alert"
      className="flex items-start gap-2 rounded-md border border-warn bg-warn-soft p-3 text-warn"
    >
      <CircleSlash aria-hidden className="mt-0.5 size-4 shrink-0" />
      {t(`link_fault.${fault}`)}
    </p>
  )
}

/** Where the values in the form come from, and how to be rid of them. */
export function RestoredNote({ onReset }: { onReset: () => void }) {
  const { t } = useTranslation('tool')
  return (
    <div
      role="status"
      className="flex flex-wrap items-center justify-between gap-2 rounded-md bg-raised px-3 py-2"
    >
      {t('restored')}
      <Button size="small" onClick={onReset}>
        <RotateCcw aria-hidden />
        {t('reset')}
      </Button>
    </div>
  )
}
