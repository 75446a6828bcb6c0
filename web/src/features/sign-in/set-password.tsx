import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'

import { api, body } from '~/api/client'
import { Problem } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { useFaultsOf } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { Field, Input } from '~/kit/field'
import { Fault } from '~/kit/states'
import { useEnter } from './password-form'

interface Props {
  onDone: () => unknown
  /** What else can be done, beside the button. */
  children?: ReactNode
}

/** Sets one's own password. The present one is asked for where there is one. */
export function SetPassword({ onDone, children }: Props) {
  const { t } = useTranslation('sign-in')
  const account = useAccount()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const { error, busy, enter } = useEnter(async () => {
    const current_password = current || null
    await api.POST('/api/auth/password', { body: { current_password, password } })
    await onDone()
  })
  const faults = useFaultsOf(error)
  const faultAt = (path: string) => faults.find((fault) => fault.path === path)?.message
  const isCurrentWrong = faultAt('/current_password') !== undefined
  // Not everybody may read whether they have one; then the server says so.
  const asksCurrent = account?.has_password === true || isCurrentWrong || current !== ''
  const isTold = isCurrentWrong || faultAt('/password') !== undefined
  return (
    <form onSubmit={enter} className="grid gap-4" noValidate>
      {account && (
        <>
          <p className="text-muted">{t('set.email', { email: account.email })}</p>
          {/* For those who let a program keep their passwords. */}
          <input hidden readOnly autoComplete="username" value={account.email} />
        </>
      )}
      {asksCurrent && (
        <Field
          id="current-password"
          label={t('set.current')}
          fault={
            isCurrentWrong
              ? t(current === '' ? 'set.current_missing' : 'set.current_wrong')
              : undefined
          }
        >
          <Input
            id="current-password"
            type="password"
            autoComplete="current-password"
            value={current}
            aria-invalid={isCurrentWrong || undefined}
            aria-describedby={isCurrentWrong ? 'current-password-fault' : undefined}
            onChange={(event) => setCurrent(event.target.value)}
          />
        </Field>
      )}
      <Field
        id="new-password"
        label={t('set.new')}
        hint={t('set.hint')}
        fault={faultAt('/password')}
      >
        <Input
          id="new-password"
          data-first
          autoFocus
          type="password"
          autoComplete="new-password"
          value={password}
          aria-invalid={faultAt('/password') !== undefined || undefined}
          aria-describedby="new-password-hint new-password-fault"
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
      {error !== undefined && !isTold && <Fault error={error} />}
      <div className="flex flex-wrap justify-end gap-2">
        {children}
        <Button type="submit" tone="primary" disabled={busy}>
          {t('set.save')}
        </Button>
      </div>
    </form>
  )
}

/** The person's own account, as far as they may read it. */
export function useAccount() {
  const { data } = useQuery({
    queryKey: ['users', 'own'],
    queryFn: async () => {
      const { principal } = await body(api.GET('/api/me'))
      try {
        const query = { limit: 200 }
        const { items } = await body(api.GET('/api/users', { params: { query } }))
        return items.find(({ id }) => id === principal.user_id) ?? null
      } catch (error) {
        if (error instanceof Problem && error.status === 403) return null
        throw error
      }
    },
    staleTime: 0,
  })
  return data ?? undefined
}
