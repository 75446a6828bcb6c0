import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Hammer } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, queryClient, showTenant } from '~/api/client'
import { Button } from '~/kit/button'
import { Field, Input } from '~/kit/field'
import { Fault } from '~/kit/states'

const route = getRouteApi('/sign-in')

export default function SignInPage() {
  const { t } = useTranslation('sign-in')
  const { token } = route.useSearch()
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="grid w-full max-w-sm gap-5 rounded-lg border border-line bg-raised p-6">
        <h1 className="flex items-center gap-2 text-lg font-semibold">
          <Hammer aria-hidden className="size-5 text-accent" />
          {t('title')}
        </h1>
        {token ? <ByLink token={token} /> : <ByPassword />}
      </div>
    </main>
  )
}

/** Opening a link uses nothing up: mail scanners and previews open links too. The button does. */
function ByLink({ token }: { token: string }) {
  const { t } = useTranslation('sign-in')
  const { error, busy, enter } = useEnter(() => api.POST('/api/auth/link', { body: { token } }))
  return (
    <form onSubmit={enter} className="grid gap-4">
      <p>{t('by_link')}</p>
      {error !== undefined && <Fault error={error} />}
      <Button type="submit" tone="primary" disabled={busy} autoFocus>
        {t('enter')}
      </Button>
    </form>
  )
}

function ByPassword() {
  const { t } = useTranslation('sign-in')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { error, busy, enter } = useEnter(() =>
    api.POST('/api/auth/login', { body: { email, password } }),
  )
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
      <p className="text-xs text-muted">{t('no_password')}</p>
    </form>
  )
}

/** Signs in, and goes where the person wanted to go. */
function useEnter(signIn: () => Promise<unknown>) {
  const { next } = route.useSearch()
  const navigate = useNavigate()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const enter = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    showTenant(undefined)
    try {
      await signIn()
      queryClient.clear()
      await navigate({ href: ours(next) })
    } catch (error) {
      setError(error)
    } finally {
      setBusy(false)
    }
  }
  return { error, busy, enter }
}

/** A link from elsewhere must not send people on to a stranger's page. */
function ours(next: string | undefined): string {
  const target = new URL(next ?? '/tools', location.origin)
  return target.origin === location.origin
    ? target.pathname + target.search + target.hash
    : '/tools'
}
