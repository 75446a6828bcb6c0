import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { actorOf, useMayReadRunOf } from '~/api/actor'
import { runOf } from '~/api/runs'
import type { components } from '~/api/schema'
import { useTranslation } from '~/i18n'
import { CopyButton } from './copy'
import { Expiry } from './expiry'
import { ActorName } from './people'
import { Moment } from './time'

const link = 'break-all text-accent underline underline-offset-2'

interface Props {
  /** What somebody asks of a person: a decision or an answer. */
  ask: Pick<
    components['schemas']['ApprovalView'],
    'id' | 'requested_by' | 'requested_at' | 'expires_at' | 'version' | 'tool' | 'run_id'
  >
  /** Whether it still waits for that person. */
  isOpen: boolean
  idLabel: string
  copyLabel: string
}

/** Who asks for what, since when, and until when. */
export function AskFacts({ ask, isOpen, idLabel, copyLabel }: Props) {
  const { t } = useTranslation('approvals')
  const mayReadRun = useMayReadRunOf(ask.requested_by)
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-3 rounded-lg border border-line bg-raised p-4">
      <Fact name="requested_by">
        <ActorName actor={actorOf(ask.requested_by)} />
      </Fact>
      <Fact name="requested_at">
        <Moment at={ask.requested_at} />
      </Fact>
      {isOpen && (
        <Fact name="expires">
          <Expiry at={ask.expires_at} />
        </Fact>
      )}
      <Fact name="version">{ask.version}</Fact>
      <Fact name="tool">
        <Link to="/tools/$slug" params={{ slug: ask.tool }} search={{}} className={link}>
          {ask.tool}
        </Link>
      </Fact>
      {mayReadRun && (
        <>
          <Fact name="run">
            <Link to="/runs/$id" params={{ id: ask.run_id }} className={link}>
              {t('to_run')}
            </Link>
          </Fact>
          <Chain id={ask.run_id} />
        </>
      )}
      <div className="col-span-full min-w-0">
        <dt className="text-xs text-muted">{idLabel}</dt>
        <dd className="flex min-w-0 items-center gap-1">
          <code className="min-w-0 text-xs break-all">{ask.id}</code>
          <CopyButton text={ask.id} name={copyLabel} />
        </dd>
      </div>
    </dl>
  )
}

/** The tool that asks, where the call is a step of another run. */
function Chain({ id }: { id: string }) {
  const { data: run } = useQuery(runOf(id))
  const outside = run?.parent_run_id ?? undefined
  const { data: chain } = useQuery({ ...runOf(outside ?? ''), enabled: outside !== undefined })
  if (!chain) return null
  return (
    <Fact name="chain">
      <Link to="/runs/$id" params={{ id: chain.run_id }} className={link}>
        {chain.tool}
      </Link>
    </Fact>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  const { t } = useTranslation('approvals')
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{t(`fact.${name}`)}</dt>
      <dd className="break-words">{children}</dd>
    </div>
  )
}
