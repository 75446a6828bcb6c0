import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { toast } from '~/kit/toast'
import { comeBack } from './queries'
import type { CallbackSearch } from './search'
import { SignInFault } from './sign-in'

/**
 * Where sign-in pages of others send people back to. What they bring counts once, so it is sent by a button: pages are
 * opened ahead and again.
 */
export function ComeBack({ brought }: { brought: CallbackSearch }) {
  const { t } = useTranslation('mcp-servers')
  const navigate = useNavigate()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const { state } = brought
  const go = async () => {
    if (isBusy || !state) return
    setBusy(true)
    setProblem(undefined)
    try {
      const server = await comeBack({ ...brought, state })
      toast(t('sign_in.done', { name: server.name }))
      await navigate({ to: '/admin/mcp-servers/$id', params: { id: server.id }, replace: true })
    } catch (error) {
      setProblem(error)
      setBusy(false)
    }
  }
  return (
    <div className="grid max-w-prose gap-4">
      <h1 className="text-xl font-semibold">{t('sign_in.title')}</h1>
      {problem === undefined ? (
        <p>{t(state ? 'sign_in.back' : 'sign_in.nothing')}</p>
      ) : (
        <SignInFault error={problem} />
      )}
      <div className="flex flex-wrap gap-2">
        {state && problem === undefined && (
          <Button tone="primary" autoFocus aria-disabled={isBusy} onClick={() => void go()}>
            {t(isBusy ? 'sign_in.ending' : 'sign_in.end')}
          </Button>
        )}
        <Button asChild>
          <Link to="/admin/mcp-servers">{t('title')}</Link>
        </Button>
      </div>
    </div>
  )
}
