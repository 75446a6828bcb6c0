import { type FormEvent, useState } from 'react'

import { api } from '~/api/client'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Field, Input } from '~/kit/field'
import { Fault } from '~/kit/states'

interface Props {
  /** Where to sign in, if there is a choice. */
  tenant?: string
  onSignedIn: () => Promise<unknown>
}

export function PasswordForm({ tenant, onSignedIn }: Props) {
  const { t } = useTranslation('sign-in')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { error, busy, enter } = useEnter(async () => {
    await api.POST('/api/auth/login', { body: { email, password, tenant } })
    await onSignedIn()
  })
  return (
    <form onSubmit={enter} className="grid gap-4">
      <Field id="email" label={t('email')}>
        <Input
          id="email"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </Field>
      <Field id="password" label={t('password')}>
        <Input
          id="password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
      {error !== undefined && <Fault error={error} />}
      <Button type="submit" tone="primary" disabled={busy}>
        {t('enter')}
      </Button>
    </form>
  )
}

/** Signs in by a form, and says how that goes. */
export function useEnter(signIn: () => Promise<unknown>) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const enter = async (event: FormEvent) => {
    event.preventDefault()
    // Where it stands in a dialog, the form around that is another one's.
    event.stopPropagation()
    setBusy(true)
    setError(undefined)
    try {
      await signIn()
    } catch (error) {
      setError(error)
    } finally {
      setBusy(false)
    }
  }
  return { error, busy, enter }
}
