import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { toast } from '~/kit/toast'
import { ProviderFields, TextField } from './fields'
import { hostsOf } from './hosts'
import { HostsField, isOfHosts } from './hosts-field'
import { LeaveGuard } from './leave-guard'
import { blank, isTyped, payloadOf } from './payload'
import { faultsOfRows, idAt, isShown, PayloadFields } from './payload-fields'
import { create, type Said } from './queries'
import { Refusal } from './refusal'
import { useSending } from './use-sending'

const NO_PROVIDER = { provider_key: '', provider_variant: '' }

/** Makes a credential. */
export function NewForm() {
  const { t } = useTranslation('credentials')
  const navigate = useNavigate()
  const [label, setLabel] = useState('')
  const [provider, setProvider] = useState(NO_PROVIDER)
  const [hosts, setHosts] = useState<string | null>(null)
  const [typed, setTyped] = useState(() => blank('api_key'))
  const [isDone, setDone] = useState(false)
  const payload = payloadOf(typed)
  const said: Said = { label, type: typed.type, payload }
  if (provider.provider_key) said.provider_key = provider.provider_key
  if (provider.provider_variant) said.provider_variant = provider.provider_variant
  if (hosts !== null) said.allowed_hosts = hostsOf(hosts)
  const sending = useSending({
    valueAt: (path) => valueAt(path, label, payload),
    idAt: (path) => idAt(path, typed),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const own = faultsOfRows(typed)
    if (own.length > 0) {
      return sending.refuse(own.map(({ path, rule }) => ({ path, message: t(`fault.${rule}`) })))
    }
    void sending.send(async () => {
      const { credential } = await create(said)
      setTyped(blank(typed.type))
      setDone(true)
      toast(t('made', { label: credential.label }))
      const params = { id: credential.id }
      await navigate({ to: '/admin/credentials/$id', params, replace: true, ignoreBlocker: true })
    })
  }
  const isDirty = !isDone && (label !== '' || Boolean(hosts) || isTyped(typed))
  return (
    <form onSubmit={submit} autoComplete="off" noValidate className="grid max-w-2xl min-w-0 gap-5">
      <TextField
        path="/label"
        label={t('label')}
        hint={t('label_hint', { label: label || 'weather' })}
        value={label}
        placeholder="weather"
        sending={sending}
        onChange={setLabel}
      />
      <PayloadFields typed={typed} sending={sending} onChange={setTyped} />
      <HostsField value={hosts} sending={sending} onChange={setHosts} />
      <ProviderFields value={provider} sending={sending} onChange={setProvider} />
      <Refusal
        sending={sending}
        isPlaced={(path) => OWN.includes(path) || isOfHosts(path) || isShown(path, typed)}
      />
      <div className="flex flex-wrap justify-end gap-2">
        <Button asChild>
          <Link to="/admin/credentials" search={{}}>
            {t('cancel', { ns: 'app' })}
          </Link>
        </Button>
        <Button type="submit" tone="primary" disabled={sending.busy}>
          {t('make')}
        </Button>
      </div>
      <LeaveGuard isDirty={isDirty} />
    </form>
  )
}

function valueAt(path: string, label: string, payload: Record<string, string>): string | undefined {
  if (path === '/label') return label
  return path.startsWith('/payload/') ? payload[path.slice('/payload/'.length)] : undefined
}

const OWN = ['/label', '/provider_key', '/provider_variant']
