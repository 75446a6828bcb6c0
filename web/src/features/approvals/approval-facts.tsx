import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

import { ActorName, actorOf } from '~/features/runs/people'
import { CopyButton } from '~/kit/copy'
import { Moment } from '~/kit/time'
import type { Approval } from './approval-queries'
import { Expiry } from './words'

const link = 'break-all text-accent underline underline-offset-2'

/** Who asks for what, since when, and until when. */
export function ApprovalFacts({ approval }: { approval: Approval }) {
  const { t } = useTranslation('approvals')
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-3 rounded-lg border border-line bg-raised p-4">
      <Fact name="requested_by">
        <ActorName actor={actorOf(approval.requested_by)} />
      </Fact>
      <Fact name="requested_at">
        <Moment at={approval.requested_at} />
      </Fact>
      {approval.status === 'pending' && (
        <Fact name="expires">
          <Expiry at={approval.expires_at} />
        </Fact>
      )}
      <Fact name="version">{approval.version}</Fact>
      <Fact name="tool">
        <Link to="/tools/$slug" params={{ slug: approval.tool }} search={{}} className={link}>
          {approval.tool}
        </Link>
      </Fact>
      <Fact name="run">
        <Link to="/runs/$id" params={{ id: approval.run_id }} className={link}>
          {t('to_run')}
        </Link>
      </Fact>
      <div className="col-span-full min-w-0">
        <dt className="text-xs text-muted">{t('fact.id')}</dt>
        <dd className="flex min-w-0 items-center gap-1">
          <code className="min-w-0 text-xs break-all">{approval.id}</code>
          <CopyButton text={approval.id} name={t('copy_id')} />
        </dd>
      </div>
    </dl>
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
