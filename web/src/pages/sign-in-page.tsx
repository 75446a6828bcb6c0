import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Hammer } from 'lucide-react'
import { useState } from 'react'

import { api, queryClient, showTenant } from '~/api/client'
import { Problem } from '~/api/problem'
import { signedIn } from '~/api/signed-out'
import { PasswordForm, useEnter } from '~/features/sign-in/password-form'
import { SetPassword, useAccount } from '~/features/sign-in/set-password'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
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
  const [isIn, setIn] = useState(false)
  const { error, busy, enter } = useEnter(async () => {
    await api.POST('/api/auth/link', { body: { token } })
    showTenant(undefined)
    queryClient.clear()
    setIn(true)
  })
  if (isIn) return <FirstPassword />
  if (error instanceof Problem && error.status === 401) return <LinkUsed />
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

/** A link works once, so whoever came by one is asked how they want to come back. */
function FirstPassword() {
  const { t } = useTranslation('sign-in')
  const goOn = useGoOn()
  const account = useAccount()
  const email = account?.email ?? 'EMAIL'
  return (
    <div className="grid gap-4">
      <p role="status">{t(account?.has_password ? 'set.change' : 'set.offer')}</p>
      <SetPassword onDone={goOn}>
        <Button onClick={() => void goOn()}>{t('set.later')}</Button>
      </SetPassword>
      <p className="text-xs wrap-anywhere text-muted">{t('set.otherwise', { email })}</p>
    </div>
  )
}

function LinkUsed() {
  const { t } = useTranslation('sign-in')
  return (
    <div className="grid gap-4">
      <div
        role="alert"
        className="grid gap-2 rounded-md border border-warn bg-warn-soft p-3 text-warn"
      >
        <p className="font-medium">{t('link_used')}</p>
        <p>{t('link_new')}</p>
      </div>
      <Button asChild>
        <Link to="/sign-in" search={({ next }) => ({ next })}>
          {t('with_password')}
        </Link>
      </Button>
    </div>
  )
}

function ByPassword() {
  const { t } = useTranslation('sign-in')
  return (
    <>
      <PasswordForm onSignedIn={useGoOn()} />
      <p className="text-xs text-muted">{t('no_password')}</p>
    </>
  )
}

/** Goes where the person wanted to go. */
function useGoOn(): () => Promise<void> {
  const { next } = route.useSearch()
  const navigate = useNavigate()
  return () => {
    showTenant(undefined)
    signedIn()
    queryClient.clear()
    return navigate({ href: ours(next) })
  }
}

/** A link from elsewhere must not send people on to a stranger's page. */
function ours(next: string | undefined): string {
  const target = new URL(next ?? '/tools', location.origin)
  return target.origin === location.origin
    ? target.pathname + target.search + target.hash
    : '/tools'
}
