import { CatchBoundary } from '@tanstack/react-router'
import { CircleUser } from 'lucide-react'
import { type ComponentProps, lazy, Suspense, useState } from 'react'

import { useMe } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'

const load = () => import('./account-menu')
const AccountMenu = lazy(load)

/** The button of the account menu. The menu is heavy, and comes when somebody is about to open it. */
export function Account() {
  const [isWanted, setWanted] = useState(false)
  const button = (
    <AccountButton
      aria-haspopup="menu"
      onPointerEnter={load}
      onFocus={load}
      onClick={() => setWanted(true)}
    />
  )
  if (!isWanted) return button
  return (
    <CatchBoundary getResetKey={() => ''} errorComponent={() => button}>
      <Suspense fallback={button}>
        <AccountMenu />
      </Suspense>
    </CatchBoundary>
  )
}

export function AccountButton(props: ComponentProps<typeof Button>) {
  const { t } = useTranslation()
  const { tenant } = useMe()
  const name = tenant.name || tenant.slug
  return (
    <Button tone="quiet" aria-label={t('nav.account_of', { tenant: name })} {...props}>
      <CircleUser aria-hidden />
      <span className="hidden max-w-40 truncate md:inline">{name}</span>
    </Button>
  )
}
