import { useQuery } from '@tanstack/react-query'
import {
  CatchBoundary,
  type ErrorComponentProps,
  Link,
  Outlet,
  useRouter,
} from '@tanstack/react-router'
import { Hammer, Inbox, KeyRound, ListChecks, Wrench } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'

import { useMay } from '~/api/me'
import { pendingAnswers, pendingApprovals } from '~/api/pending'
import { useSignedOut } from '~/api/signed-out'
import { loadTexts } from '~/i18n'
import { Badge } from '~/kit/badge'
import { Button } from '~/kit/button'
import { isNotLoaded } from '~/kit/not-loaded'
import { Fault, Loading } from '~/kit/states'
import { PageNotLoaded } from './page-not-loaded'

// Menus are heavy, and nobody opens one in the first second.
const AccountMenu = lazy(() => import('./account-menu'))

const SignInAgain = lazy(async () => {
  const [module] = await Promise.all([
    import('~/features/sign-in/sign-in-again'),
    loadTexts(['sign-in']),
  ])
  return module
})

/** The frame around every page of a signed-in person. */
export function Shell() {
  const { t } = useTranslation()
  const isSignedOut = useSignedOut()
  return (
    <div className="grid min-h-dvh grid-rows-[auto_1fr]">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-ground focus:p-3"
      >
        {t('skip')}
      </a>
      <header className="sticky top-0 z-30 flex h-14 items-center gap-1 border-b border-line bg-ground px-3 sm:gap-4 sm:px-5">
        <Link to="/tools" search={{}} className="hidden items-center gap-2 font-semibold sm:flex">
          <Hammer aria-hidden className="size-5 text-accent" />
          Toolwright
        </Link>
        <Navigation />
        <div className="ml-auto">
          <CatchBoundary getResetKey={() => ''} errorComponent={Nothing}>
            <Suspense>
              <AccountMenu />
            </Suspense>
          </CatchBoundary>
        </div>
      </header>
      <main
        id="content"
        tabIndex={-1}
        className="mx-auto w-full max-w-7xl min-w-0 px-4 py-6 outline-none sm:px-6"
      >
        <Outlet />
      </main>
      {isSignedOut && (
        <CatchBoundary getResetKey={() => ''} errorComponent={Nothing}>
          <Suspense>
            <SignInAgain />
          </Suspense>
        </CatchBoundary>
      )}
    </div>
  )
}

/** A menu or a dialog that does not come must not take the page with it. */
function Nothing() {
  return null
}

const tab =
  'flex h-9 items-center gap-2 rounded-md px-2.5 font-medium text-muted hover:bg-raised hover:text-text [&.active]:bg-accent-soft [&.active]:text-accent [&_svg]:size-4'

function Navigation() {
  const { t } = useTranslation()
  const decides = useMay('approvals.tenant.read')
  const answers = useMay('tools.tenant.run')
  const authors = useMay('tools.tenant.update')
  const seesCredentials = useMay('credentials.tenant.read')
  return (
    <nav aria-label={t('nav.label')} className="flex items-center gap-0.5 sm:gap-1">
      <Link to="/tools" search={{}} className={tab} aria-label={t('nav.tools')}>
        <Wrench aria-hidden />
        <span className="hidden lg:inline">{t('nav.tools')}</span>
      </Link>
      {(decides || answers) && <InboxTab decides={decides} answers={answers} />}
      <Link to="/runs" search={{}} className={tab} aria-label={t('nav.runs')}>
        <ListChecks aria-hidden />
        <span className="hidden lg:inline">{t('nav.runs')}</span>
      </Link>
      {authors && (
        <Link to="/admin/tools" search={{}} className={tab} aria-label={t('nav.admin_tools')}>
          <Hammer aria-hidden />
          <span className="hidden lg:inline">{t('nav.admin_tools')}</span>
        </Link>
      )}
      {seesCredentials && (
        <Link to="/admin/credentials" search={{}} className={tab} aria-label={t('nav.credentials')}>
          <KeyRound aria-hidden />
          <span className="hidden lg:inline">{t('nav.credentials')}</span>
        </Link>
      )}
    </nav>
  )
}

/** What waits for this person: decisions, answers, or both. Whoever may not decide goes to the answers. */
function InboxTab({ decides, answers }: { decides: boolean; answers: boolean }) {
  const { t } = useTranslation()
  const approvals = useQuery({ ...pendingApprovals, enabled: decides })
  const calls = useQuery({ ...pendingAnswers, enabled: answers })
  const count = [approvals.data, calls.data].reduce(
    (sum, page) => sum + (page?.total ?? page?.items.length ?? 0),
    0,
  )
  const name = t(decides ? 'nav.approvals' : 'nav.answers')
  return (
    <Link
      to={decides ? '/approvals' : '/approvals/answers'}
      search={{}}
      className={tab}
      aria-label={count > 0 ? `${name} ${t('waiting', { count })}` : name}
    >
      <Inbox aria-hidden />
      <span className="hidden lg:inline">{name}</span>{' '}
      {count > 0 && <Badge tone="warn">{count}</Badge>}
    </Link>
  )
}

export function PageLoading() {
  return <Loading />
}

export function PageFault({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  if (isNotLoaded(error)) return <PageNotLoaded />
  const again = () => {
    reset()
    void router.invalidate()
  }
  return <Fault error={error} onRetry={again} />
}

export function PageMissing() {
  const { t } = useTranslation()
  return (
    <div className="grid justify-items-center gap-4 py-12 text-center">
      <h1 className="text-xl font-semibold">{t('not_found')}</h1>
      <Button asChild tone="primary">
        <Link to="/tools" search={{}}>
          {t('to_library')}
        </Link>
      </Button>
    </div>
  )
}
