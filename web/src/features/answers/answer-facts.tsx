import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

import { Expiry } from '~/features/approvals/words'
import { ActorName, actorOf } from '~/features/runs/people'
import { CopyButton } from '~/kit/copy'
import { Moment } from '~/kit/time'
import { type Asked, isOpen } from './answer-queries'

const link = 'break-all text-accent underline underline-offset-2'

/** Who asks, since when, and until when an answer is taken. */
export function AnswerFacts({ call }: { call: Asked }) {
  const { t } = useTranslation(['answers', 'approvals'])
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-3 rounded-lg border border-line bg-raised p-4">
      <Fact name="requested_by">
        <ActorName actor={actorOf(call.requested_by)} />
      </Fact>
      <Fact name="requested_at">
        <Moment at={call.requested_at} />
      </Fact>
      {isOpen(call) && (
        <Fact name="expires">
          <Expiry at={call.expires_at} />
        </Fact>
      )}
      <Fact name="version">{call.version}</Fact>
      <Fact name="tool">
        <Link to="/tools/$slug" params={{ slug: call.tool }} search={{}} className={link}>
          {call.tool}
        </Link>
      </Fact>
      <Fact name="run">
        <Link to="/runs/$id" params={{ id: call.run_id }} className={link}>
          {t('approvals:to_run')}
        </Link>
      </Fact>
      <div className="col-span-full min-w-0">
        <dt className="text-xs text-muted">{t('id')}</dt>
        <dd className="flex min-w-0 items-center gap-1">
          <code className="min-w-0 text-xs break-all">{call.id}</code>
          <CopyButton text={call.id} name={t('copy_id')} />
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
