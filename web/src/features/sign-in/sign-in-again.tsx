import { ExternalLink } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'

import { api, body, queryClient } from '~/api/client'
import { me, useMe } from '~/api/me'
import { Problem } from '~/api/problem'
import { putOff, signedIn } from '~/api/signed-out'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Fault } from '~/kit/states'
import { toast } from '~/kit/toast'
import { PasswordForm } from './password-form'

/** Asks a person whose sign-in has run out to sign in again, over the page they are at work on. */
export default function SignInAgain() {
  const { t } = useTranslation('sign-in')
  const { principal, tenant } = useMe()
  const [error, setError] = useState<unknown>()

  const goOn = async () => {
    const now = await body(api.GET('/api/me'))
    if (now.principal.user_id !== principal.user_id) {
      // What is on the page is not this person's.
      location.reload()
      return
    }
    queryClient.setQueryData(me.queryKey, now)
    signedIn()
    toast(t('again.done'))
    await queryClient.invalidateQueries()
  }

  const look = useEffectEvent(async () => {
    try {
      await goOn()
    } catch (error) {
      const isStillOut = error instanceof Problem && error.status === 401
      if (!isStillOut) setError(error)
    }
  })
  useEffect(() => {
    const back = () => void look()
    addEventListener('focus', back)
    return () => removeEventListener('focus', back)
  }, [])

  return (
    <Dialog open title={t('again.title')} description={t('again.text')} onClose={putOff}>
      <div className="grid gap-4">
        <PasswordForm tenant={tenant.slug} onSignedIn={goOn} />
        {error !== undefined && <Fault error={error} />}
        <p className="text-xs text-muted">{t('again.otherwise')}</p>
        <Button asChild>
          <a href="/sign-in" target="_blank" rel="noreferrer">
            <ExternalLink aria-hidden />
            {t('again.new_tab')}
          </a>
        </Button>
      </div>
    </Dialog>
  )
}
