import { CalendarClock, Check, Pencil, X } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Field, Textarea } from '~/kit/field'
import { Fault } from '~/kit/states'

interface Props {
  editing: boolean
  canEdit: boolean
  busy: boolean
  error: unknown
  note: string
  onNote: (note: string) => void
  onApprove: () => void
  /** Approves later calls as well; missing where that is not possible. */
  onApproveFor?: () => void
  onDeny: () => void
  onEdit: () => void
  onDiscard: () => void
}

/** What a person can do about it. */
export function DecisionPanel(props: Props) {
  const { editing, canEdit, busy, error, note, onNote } = props
  const { t } = useTranslation('approvals')
  return (
    <section
      aria-labelledby="decision"
      className="grid min-w-0 content-start gap-4 rounded-lg border border-line p-4"
    >
      <h2 id="decision" className="text-base font-semibold">
        {t('decision')}
      </h2>
      <Field id="note" label={t('note')}>
        <Textarea
          id="note"
          maxLength={1000}
          value={note}
          onChange={(event) => onNote(event.target.value)}
        />
      </Field>
      {error != null && <Fault error={error} />}
      {editing ? (
        <>
          <p className="text-muted">{t('editing')}</p>
          <Button onClick={props.onDiscard}>{t('discard')}</Button>
        </>
      ) : (
        <div className="grid grid-cols-2 gap-2">
          <Button
            tone="primary"
            className="col-span-full"
            aria-keyshortcuts="a"
            disabled={busy}
            onClick={props.onApprove}
          >
            <Check aria-hidden />
            {t('approve')}
          </Button>
          {props.onApproveFor && (
            <Button className="col-span-full" disabled={busy} onClick={props.onApproveFor}>
              <CalendarClock aria-hidden />
              {t('standing.approve_for')}
            </Button>
          )}
          {canEdit && (
            <Button aria-keyshortcuts="e" disabled={busy} onClick={props.onEdit}>
              <Pencil aria-hidden />
              {t('edit')}
            </Button>
          )}
          <Button
            tone="danger"
            className={canEdit ? undefined : 'col-span-full'}
            aria-keyshortcuts="d"
            disabled={busy}
            onClick={props.onDeny}
          >
            <X aria-hidden />
            {t('deny')}
          </Button>
        </div>
      )}
    </section>
  )
}
