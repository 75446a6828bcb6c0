import { Link, useNavigate } from '@tanstack/react-router'
import { Send, Trash2 } from 'lucide-react'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { errorWords } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Field, Input } from '~/kit/field'
import { Fault } from '~/kit/states'
import { Switch } from '~/kit/switch'
import { usePageName } from '~/kit/title'
import { toast } from '~/kit/toast'
import { Deliveries } from './deliveries'
import { EVENTS_ID, EventsField } from './events-field'
import { change, EVENTS, remove, rotate, test, type Webhook } from './queries'
import { SecretShown } from './secret-shown'
import { useAct } from './use-act'
import { State } from './webhooks-list'

const URL_ID = 'webhook-url'

/** One webhook: what it was told, and what an administrator can do with it. */
export function WebhookDetail({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation('webhooks')
  const mayWrite = useMay('webhooks.tenant.write')
  const [open, setOpen] = useState<'remove' | 'rotate'>()
  const { busy, problem, act } = useAct()
  const { id, url, enabled } = webhook
  usePageName(t('title.webhook_of', { host: hostOf(url), ns: 'app' }))
  const turn = async (on: boolean, isUndo = false) => {
    await change(id, { enabled: on })
    const undo = () => turn(!on, true).catch((error) => toast(errorWords(error), 'bad'))
    const text = t(on ? 'turned_on' : 'turned_off', { host: hostOf(url) })
    toast(text, 'good', isUndo ? undefined : { label: t('undo'), run: () => void undo() })
  }
  const tryOut = async () => {
    const { status, error, response_status } = await test(id)
    if (status === 'delivered') toast(t('test_taken', { status: response_status }))
    else toast(t('test_failed', { error }), 'bad')
  }
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-6">
      <div className="grid min-w-0 gap-1">
        <Link
          to="/admin/webhooks"
          className="justify-self-start text-xs text-muted hover:underline"
        >
          {t('title')}
        </Link>
        <div className="flex flex-wrap items-start justify-between gap-3">
          <h1 className="min-w-0 text-xl font-semibold break-all">{url}</h1>
          <State webhook={webhook} />
        </div>
      </div>
      {mayWrite && (
        <div className="flex flex-wrap items-center gap-3">
          <span className="flex items-center gap-2">
            <Switch
              id="webhook-enabled"
              checked={enabled}
              disabled={busy}
              onChange={(enabled) => void act(() => turn(enabled))}
            />
            <label htmlFor="webhook-enabled">{t('enabled')}</label>
          </span>
          <Button disabled={busy} onClick={() => void act(tryOut)}>
            <Send aria-hidden />
            {t('test')}
          </Button>
          <Button onClick={() => setOpen('rotate')}>{t('rotate')}</Button>
          <Button tone="danger" onClick={() => setOpen('remove')}>
            <Trash2 aria-hidden />
            {t('remove')}
          </Button>
        </div>
      )}
      {problem !== undefined && <Fault error={problem} />}
      <div className="grid min-w-0 items-start gap-6 lg:grid-cols-2">
        <Part title={t('deliveries')} hint={t('deliveries_hint')}>
          <Deliveries id={id} />
        </Part>
        <Part title={t('settings')}>
          {mayWrite ? (
            <Settings key={webhook.updated_at} webhook={webhook} />
          ) : (
            <ul className="grid gap-1 font-mono text-xs">
              {webhook.events.map((event) => (
                <li key={event}>{event}</li>
              ))}
            </ul>
          )}
        </Part>
      </div>
      {open === 'remove' && <RemoveDialog webhook={webhook} onClose={() => setOpen(undefined)} />}
      {open === 'rotate' && <RotateDialog webhook={webhook} onClose={() => setOpen(undefined)} />}
    </div>
  )
}

/** Where messages go, without what may be long or secret behind it. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}

function Part({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  const id = useId()
  return (
    <section
      aria-labelledby={id}
      className="grid min-w-0 gap-4 rounded-lg border border-line p-4 sm:p-5"
    >
      <div className="grid gap-1">
        <h2 id={id} className="text-base font-semibold">
          {title}
        </h2>
        {hint && <p className="text-muted">{hint}</p>}
      </div>
      {children}
    </section>
  )
}

function Settings({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation('webhooks')
  const [url, setUrl] = useState(webhook.url)
  const [events, setEvents] = useState(() =>
    EVENTS.filter((event) => webhook.events.includes(event)),
  )
  const { busy, problem, faults, act, faultAt } = useAct((path) =>
    path.startsWith('/events') ? EVENTS_ID : URL_ID,
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void act(async () => {
      await change(webhook.id, { url, events })
      toast(t('saved'))
    })
  }
  const fault = faultAt('/url')
  const isSame = url === webhook.url && events.join() === webhook.events.join()
  return (
    <form onSubmit={submit} noValidate className="grid min-w-0 gap-5">
      <Field id={URL_ID} label={t('url')} fault={fault}>
        <Input
          id={URL_ID}
          type="url"
          autoComplete="off"
          value={url}
          aria-invalid={fault ? true : undefined}
          aria-describedby={fault ? `${URL_ID}-fault` : undefined}
          onChange={({ target }) => setUrl(target.value)}
        />
      </Field>
      <EventsField chosen={events} fault={faultAt('/events')} onChange={setEvents} />
      {problem !== undefined && faults.length === 0 && <Fault error={problem} />}
      <div className="flex justify-end">
        <Button type="submit" disabled={busy || isSame}>
          {t('save')}
        </Button>
      </div>
    </form>
  )
}

interface DialogProps {
  webhook: Webhook
  onClose: () => void
}

function RemoveDialog({ webhook, onClose }: DialogProps) {
  const { t } = useTranslation('webhooks')
  const navigate = useNavigate()
  const { busy, problem, act } = useAct()
  const go = async () => {
    await remove(webhook.id)
    toast(t('removed'))
    await navigate({ to: '/admin/webhooks' })
  }
  return (
    <Dialog open title={t('remove_title')} description={t('remove_hint')} onClose={onClose}>
      <div className="grid gap-4">
        {problem !== undefined && <Fault error={problem} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('cancel', { ns: 'app' })}</Button>
          <Button tone="danger" disabled={busy} onClick={() => void act(go)}>
            {t('remove')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

function RotateDialog({ webhook, onClose }: DialogProps) {
  const { t } = useTranslation('webhooks')
  const [secret, setSecret] = useState<string>()
  const { busy, problem, act } = useAct()
  return (
    <Dialog
      open
      as={secret ? 'wide' : 'dialog'}
      title={t('rotate')}
      description={t('rotate_hint')}
      onClose={onClose}
    >
      <div className="grid min-w-0 gap-4">
        {secret && <SecretShown secret={secret} />}
        {problem !== undefined && <Fault error={problem} />}
        <div className="flex justify-end gap-2">
          {secret ? (
            <Button tone="primary" onClick={onClose}>
              {t('done')}
            </Button>
          ) : (
            <Button
              tone="primary"
              disabled={busy}
              onClick={() => void act(async () => setSecret(await rotate(webhook.id)))}
            >
              {t('rotate_go')}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  )
}
