import { useTranslation } from '~/i18n'

import { type EventName, EVENTS } from './queries'

interface Props {
  chosen: EventName[]
  fault?: string
  onChange: (chosen: EventName[]) => void
}

export const EVENTS_ID = 'webhook-events'

/** What a webhook is told of, each with a sentence. */
export function EventsField({ chosen, fault, onChange }: Props) {
  const { t } = useTranslation('webhooks')
  const toggle = (event: string, isOn: boolean) =>
    onChange(EVENTS.filter((one) => (one === event ? isOn : chosen.includes(one))))
  return (
    <fieldset
      id={EVENTS_ID}
      tabIndex={-1}
      className="grid gap-2 outline-none"
      aria-invalid={fault ? true : undefined}
      aria-describedby={fault ? `${EVENTS_ID}-fault` : undefined}
    >
      <legend className="mb-1.5 font-medium">{t('events')}</legend>
      {EVENTS.map((event) => {
        const id = `${EVENTS_ID}-${event.replace('.', '-')}`
        return (
          <div key={event} className="flex items-start gap-2">
            <input
              id={id}
              type="checkbox"
              className="mt-0.5 size-4 shrink-0 accent-accent"
              checked={chosen.includes(event)}
              aria-describedby={`${id}-hint`}
              onChange={({ target }) => toggle(event, target.checked)}
            />
            <div className="grid min-w-0">
              <label htmlFor={id} className="font-mono text-xs break-all">
                {event}
              </label>
              <span id={`${id}-hint`} className="text-xs text-muted">
                {t(`event.${event.replace('.', '_')}`)}
              </span>
            </div>
          </div>
        )
      })}
      {fault && (
        <p id={`${EVENTS_ID}-fault`} className="text-xs text-bad">
          {fault}
        </p>
      )}
    </fieldset>
  )
}
