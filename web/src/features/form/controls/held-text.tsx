import { X } from 'lucide-react'

import { useLocale, useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { plain } from '~/kit/plain'
import { aria, type ControlProps } from './props'

/** A longer text in a field would be laid out anew with every key. */
const MOST = 100_000
const SHOWN = 300

export function isHeld(value: unknown): value is string {
  return typeof value === 'string' && value.length > MOST
}

/** A text that is too long for a field: its beginning, how long it is, and the way to be rid of it. */
export function HeldText(props: ControlProps & { value: string }) {
  const { id, label, value, onChange, readOnly } = props
  const { t } = useTranslation('form')
  const length = new Intl.NumberFormat(useLocale()).format(value.length)
  return (
    <div
      id={id}
      tabIndex={-1}
      role="group"
      className="grid min-w-0 gap-2 rounded-md border border-line-strong p-3"
      {...aria(props)}
      aria-label={label}
    >
      <p className="line-clamp-3 font-mono text-xs wrap-anywhere">
        {plain(value.slice(0, SHOWN))}…
      </p>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-xs text-muted">{t('held', { length })}</p>
        {!readOnly && (
          <Button size="small" autoFocus onClick={() => onChange(undefined)}>
            <X aria-hidden />
            {t('held_remove')}
            <span className="sr-only">: {label}</span>
          </Button>
        )}
      </div>
    </div>
  )
}
