import { type FormEvent, useState } from 'react'

import { same } from '~/features/form/schema/json'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { toast } from '~/kit/toast'
import { ProviderFields, TextField } from './fields'
import { hostsOf, textOf } from './hosts'
import { HostsField, isOfHosts } from './hosts-field'
import { LeaveGuard } from './leave-guard'
import { type Credential, change, type Marked, type Said } from './queries'
import { Refusal } from './refusal'
import { idOf, useSending } from './use-sending'

interface Props {
  base: Marked
  onSaved: (saved: Marked) => void
  onReload: () => void
}

const KEYS = ['label', 'provider_key', 'provider_variant', 'allowed_hosts'] as const

/** What a credential is called, where it may be sent, and whom it is for. */
export function IdentityForm({ base, onSaved, onReload }: Props) {
  const { t } = useTranslation('credentials')
  const [typed, setTyped] = useState(() => textsOf(base.credential))
  const sending = useSending({
    valueAt: (path) => (path === '/label' ? typed.label : undefined),
    idAt: idOf,
  })
  const said = saidOf(typed)
  const before = saidOf(textsOf(base.credential))
  const changedKeys = KEYS.filter((key) => !same(said[key], before[key]))
  const isDirty = changedKeys.length > 0
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void sending.send(async () => {
      const changed: Said = Object.fromEntries(changedKeys.map((key) => [key, said[key]]))
      const saved = await change(base, changed)
      setTyped(textsOf(saved.credential))
      onSaved(saved)
      toast(t('saved', { label: saved.credential.label }))
    })
  }
  return (
    <form onSubmit={submit} autoComplete="off" noValidate className="grid min-w-0 gap-4">
      <TextField
        path="/label"
        label={t('label')}
        hint={t('rename_hint')}
        value={typed.label}
        sending={sending}
        onChange={(label) => setTyped({ ...typed, label })}
      />
      <HostsField
        value={typed.hosts}
        sending={sending}
        onChange={(hosts) => setTyped({ ...typed, hosts })}
      />
      <ProviderFields
        value={typed}
        sending={sending}
        onChange={(provider) => setTyped({ ...typed, ...provider })}
      />
      <Refusal
        sending={sending}
        isPlaced={(path) => isOfHosts(path) || KEYS.some((key) => path === `/${key}`)}
        onReload={onReload}
      />
      <div className="flex justify-end">
        <Button type="submit" tone="primary" disabled={sending.busy || !isDirty}>
          {t('save', { ns: 'app' })}
        </Button>
      </div>
      <LeaveGuard isDirty={isDirty} />
    </form>
  )
}

interface Typed {
  label: string
  provider_key: string
  provider_variant: string
  hosts: string | null
}

function textsOf(credential: Credential): Typed {
  const { label, provider_key, provider_variant, allowed_hosts } = credential
  return {
    label,
    provider_key: provider_key ?? '',
    provider_variant: provider_variant ?? '',
    hosts: allowed_hosts ? textOf(allowed_hosts) : null,
  }
}

/** An empty label is for the server to refuse; without a provider there is none. */
function saidOf({ label, provider_key, provider_variant, hosts }: Typed) {
  return {
    label,
    provider_key: provider_key || null,
    provider_variant: provider_variant || null,
    allowed_hosts: hosts === null ? null : hostsOf(hosts),
  }
}
