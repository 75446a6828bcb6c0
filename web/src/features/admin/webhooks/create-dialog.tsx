import { type FormEvent, useState } from 'react'
import { useTranslation } from '~/i18n'

import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Field, Input } from '~/kit/field'
import { Fault } from '~/kit/states'
import { EVENTS_ID, EventsField } from './events-field'
import { create, type EventName, type NewWebhook } from './queries'
import { SecretShown } from './secret-shown'
import { useAct } from './use-act'

const URL_ID = 'webhook-url'

/** Makes a webhook, then shows its secret. */
export function CreateDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('webhooks')
  const [made, setMade] = useState<NewWebhook>()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<EventName[]>(['run.failed', 'approval.requested'])
  const { busy, problem, faults, act, faultAt } = useAct((path) =>
    path.startsWith('/events') ? EVENTS_ID : URL_ID,
  )
  if (made) {
    return (
      <Dialog open as="wide" title={t('made')} onClose={onClose}>
        <div className="grid min-w-0 gap-4">
          <SecretShown secret={made.secret} />
          <div className="flex justify-end">
            <Button data-first tone="primary" onClick={onClose}>
              {t('done')}
            </Button>
          </div>
        </div>
      </Dialog>
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void act(async () => setMade(await create(url, events)))
  }
  const fault = faultAt('/url')
  return (
    <Dialog open title={t('new')} description={t('new_hint')} onClose={onClose}>
      <form onSubmit={submit} noValidate className="grid gap-5">
        <Field id={URL_ID} label={t('url')} hint={t('url_hint')} fault={fault}>
          <Input
            id={URL_ID}
            data-first
            type="url"
            autoComplete="off"
            placeholder="https://example.com/hooks/toolwright"
            value={url}
            aria-invalid={fault ? true : undefined}
            aria-describedby={fault ? `${URL_ID}-fault` : `${URL_ID}-hint`}
            onChange={({ target }) => setUrl(target.value)}
          />
        </Field>
        <EventsField chosen={events} fault={faultAt('/events')} onChange={setEvents} />
        {problem !== undefined && faults.length === 0 && <Fault error={problem} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('cancel', { ns: 'app' })}</Button>
          <Button type="submit" tone="primary" disabled={busy}>
            {t('make')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
