import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Field, Textarea } from '~/kit/field'
import { Fault } from '~/kit/states'

interface Props {
  tool: string
  /** What was typed so far. It outlives the dialog, which one key closes. */
  why: string
  onWhy: (why: string) => void
  busy: boolean
  error: unknown
  onSend: (why: string) => void
  onClose: () => void
}

/** Says that there will be no answer, and why. */
export function CannotDialog({ tool, why, onWhy, busy, error, onSend, onClose }: Props) {
  const { t } = useTranslation('answers')
  const [asked, setAsked] = useState(false)
  const isMissing = asked && why.trim() === ''
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('cannot_title', { tool })}
      description={t('cannot_text')}
    >
      <form
        className="grid min-w-0 gap-4"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          setAsked(true)
          if (!busy && why.trim() !== '') onSend(why.trim())
        }}
      >
        <Field id="cannot-why" label={t('why')} fault={isMissing ? t('why_missing') : undefined}>
          <Textarea
            id="cannot-why"
            data-first
            maxLength={1000}
            value={why}
            aria-invalid={isMissing}
            aria-describedby={isMissing ? 'cannot-why-fault' : undefined}
            onChange={(event) => onWhy(event.target.value)}
          />
        </Field>
        {error != null && <Fault error={error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{t('back')}</Button>
          <Button type="submit" tone="danger" disabled={busy}>
            {t('send_cannot')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
