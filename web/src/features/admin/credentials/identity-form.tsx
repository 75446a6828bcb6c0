import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { Button } from '~/kit/button'
import { toast } from '~/kit/toast'
import { LeaveGuard } from './leave-guard'
import { ProviderFields, TextField } from './fields'
import { change, type Credential, type Marked, type Said } from './queries'
import { Refusal } from './refusal'
import { idOf, useSending } from './use-sending'

interface Props {
  base: Marked
  onSaved: (saved: Marked) => void
  onReload: () => void
}

const KEYS = ['label', 'provider_key', 'provider_variant'] as const

/** What a credential is called, and whom it is for. */
export function IdentityForm({ base, onSaved, onReload }: Props) {
  const { t } = useTranslation('credentials')
  const before = textsOf(base.credential)
  const [typed, setTyped] = useState(before)
  const sending = useSending({
    valueAt: (path) => (path === '/label' ? typed.label : undefined),
    idAt: idOf,
  })
  const changedKeys = KEYS.filter((key) => typed[key] !== before[key])
  const isDirty = changedKeys.length > 0
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // An empty label is for the server to refuse; without a provider there is none.
    const value = (key: (typeof KEYS)[number]) =>
      key === 'label' ? typed.label : typed[key] || null
    const said: Said = Object.fromEntries(changedKeys.map((key) => [key, value(key)]))
    void sending.send(async () => {
      const saved = await change(base, said)
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
      <ProviderFields
        value={typed}
        sending={sending}
        onChange={(provider) => setTyped({ ...typed, ...provider })}
      />
      <Refusal
        sending={sending}
        isPlaced={(path) => KEYS.some((key) => path === `/${key}`)}
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

function textsOf({ label, provider_key, provider_variant }: Credential) {
  return {
    label,
    provider_key: provider_key ?? '',
    provider_variant: provider_variant ?? '',
  }
}
