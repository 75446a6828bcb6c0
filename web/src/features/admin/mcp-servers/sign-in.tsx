import { LogIn } from 'lucide-react'
import { type ReactNode, useState } from 'react'

import { Problem } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { errorWords } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { FactList } from '~/kit/facts'
import { Fault } from '~/kit/states'
import { Moment } from '~/kit/time'
import { toast } from '~/kit/toast'
import { authorize, type McpServerDetail, signOut } from './queries'
import { Status } from './status'

interface Props {
  server: McpServerDetail
  mayWrite: boolean
}

/** Whether somebody signed in to a server, and the way to its sign-in page. */
export function SignIn({ server, mayWrite }: Props) {
  const { t } = useTranslation('mcp-servers')
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const given = server.sign_in
  const go = async () => {
    if (isBusy) return
    setBusy(true)
    setProblem(undefined)
    try {
      // The page is somebody else's. It sends people back to the page for that.
      location.assign(await authorize(server.id))
    } catch (error) {
      setProblem(error)
      setBusy(false)
    }
  }
  const leave = async () => {
    if (isBusy) return
    setBusy(true)
    try {
      await signOut(server.id)
      toast(t('signed_out'))
    } catch (error) {
      toast(errorWords(error), 'bad')
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
      {given && <FactList facts={factsOf(t, given)} />}
      {problem !== undefined && <SignInFault error={problem} />}
      {mayWrite && (
        <div className="flex flex-wrap gap-2">
          <Button
            tone={given?.status === 'signed_in' ? undefined : 'primary'}
            aria-disabled={isBusy}
            onClick={() => void go()}
          >
            <LogIn aria-hidden />
            {t(isBusy ? 'sign_in.going' : given ? 'sign_in.again' : 'sign_in.do')}
          </Button>
          {given && (
            <Button aria-disabled={isBusy} onClick={() => void leave()}>
              {t('sign_in.leave')}
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

type Given = NonNullable<McpServerDetail['sign_in']>

function factsOf(t: (key: string) => string, given: Given): [string, ReactNode][] {
  const facts: [string, ReactNode][] = [
    [t('state'), <Status key="state" status={given.status} />],
    [
      t('sign_in.issuer'),
      <span key="issuer" className="font-mono text-xs break-all">
        {given.issuer}
      </span>,
    ],
    [t('sign_in.since'), <Moment key="since" at={given.signed_in_at} />],
  ]
  if (given.scope) facts.push([t('sign_in.scope'), given.scope])
  return facts
}

/** Why nobody could sign in. What the other side said is more than the code says. */
export function SignInFault({ error }: { error: unknown }) {
  const isTold = !(
    error instanceof Problem && ['UPSTREAM_ERROR', 'EGRESS_DENIED'].includes(error.code)
  )
  return (
    <div className="grid gap-2">
      <Fault error={error} />
      {!isTold && <p className="break-words text-muted">{(error as Problem).detail}</p>}
    </div>
  )
}
