import { useQuery } from '@tanstack/react-query'
import { CatchBoundary, type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import {
  BookOpen,
  Hammer,
  Inbox,
  KeyRound,
  ListChecks,
  Server,
  Webhook,
  Wrench,
} from 'lucide-react'
import { lazy, Suspense } from 'react'

import { useMay } from '~/api/me'
import { pendingAnswers, pendingApprovals } from '~/api/pending'
import { useSignedOut } from '~/api/signed-out'
import { loadTexts, useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { isNotLoaded } from '~/kit/not-loaded'
import { Fault, Loading } from '~/kit/states'
import { Account } from './account'
import { Frame } from './frame'
import { PageNotLoaded } from './page-not-loaded'
import { Shortcuts } from './shortcuts'

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
    <Frame
      barClass="px-1"
      bar={
        <>
          <Link to="/tools" search={{}} className="hidden items-center gap-2 font-semibold sm:flex">
            <Hammer aria-hidden className="size-5 text-accent" />
            Toolwright
          </Link>
          <Navigation />
          <div className="ml-auto flex shrink-0 items-center">
            <Shortcuts />
            <Button asChild tone="quiet" className="max-lg:hidden">
              <Link to="/docs">
                <BookOpen aria-hidden />
                {t('nav_short.docs')}
              </Link>
            </Button>
            <Account />
          </div>
        </>
      }
    >
      {isSignedOut && (
        <CatchBoundary getResetKey={() => ''} errorComponent={Nothing}>
          <Suspense>
            <SignInAgain />
          </Suspense>
        </CatchBoundary>
      )}
    </Frame>
  )
}

/** A menu or a dialog that does not come must not take the page with it. */
function Nothing() {
  return null
}

// Words stand below their icons, then beside them, and from 94rem on they are whole. German ones are long.
const tab =
  'flex min-w-0 flex-col items-center justify-center gap-0.5 rounded-md px-0.5 py-1 text-[0.6875rem] leading-tight font-medium whitespace-nowrap text-muted hover:bg-raised hover:text-text sm:px-2 xl:h-9 xl:flex-row xl:gap-2 xl:px-2 xl:py-0 xl:text-sm min-[94rem]:px-2.5 [&.active]:bg-accent-soft [&.active]:text-accent [&_svg]:size-4'

function Navigation() {
  const { t } = useTranslation()
  const decides = useMay('approvals.tenant.read')
  const answers = useMay('tools.tenant.run')
  const authors = useMay('tools.tenant.update')
  const seesCredentials = useMay('credentials.tenant.read')
  const seesServers = useMay('mcp_servers.tenant.read')
  const seesWebhooks = useMay('webhooks.tenant.read')
  return (
    <nav aria-label={t('nav.label')} className="flex min-w-0 items-center sm:gap-1">
      <Link to="/tools" search={{}} className={tab}>
        <Wrench aria-hidden />
        <Word name="tools" />
      </Link>
      {(decides || answers) && <InboxTab decides={decides} answers={answers} />}
      <Link to="/runs" search={{}} className={tab}>
        <ListChecks aria-hidden />
        <Word name="runs" />
      </Link>
      {authors && (
        <Link to="/admin/tools" search={{}} className={tab}>
          <Hammer aria-hidden />
          <Word name="admin_tools" />
        </Link>
      )}
      {seesCredentials && (
        <Link to="/admin/credentials" search={{}} className={tab}>
          <KeyRound aria-hidden />
          <Word name="credentials" />
        </Link>
      )}
      {/* Where there is little room the palette leads to those that follow. */}
      {seesServers && (
        <Link to="/admin/mcp-servers" className={cn(tab, 'hidden lg:flex')}>
          <Server aria-hidden />
          <Word name="mcp_servers" />
        </Link>
      )}
      {seesWebhooks && (
        <Link to="/admin/webhooks" className={cn(tab, 'hidden lg:flex')}>
          <Webhook aria-hidden />
          <Word name="webhooks" />
        </Link>
      )}
    </nav>
  )
}

/** The name of a tab, and a shorter one where there is little room. */
function Word({ name }: { name: string }) {
  const { t } = useTranslation()
  return (
    <>
      <span className="max-w-full truncate min-[94rem]:hidden">{t(`nav_short.${name}`)}</span>
      <span className="hidden min-[94rem]:inline">{t(`nav.${name}`)}</span>
    </>
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
  return (
    <Link
      to={decides ? '/approvals' : '/approvals/answers'}
      search={{}}
      className={cn(tab, 'relative')}
    >
      <Inbox aria-hidden />
      <Word name={decides ? 'approvals' : 'answers'} />{' '}
      {count > 0 && (
        <Badge
          tone="warn"
          className="max-xl:absolute max-xl:top-0 max-xl:left-1/2 max-xl:ml-1 max-xl:px-1 max-xl:py-0"
        >
          {count}
          <span className="sr-only"> {t('waiting', { count })}</span>
        </Badge>
      )}
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
