import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { RefObject } from 'react'

import { toolAt } from '~/api/tool-at'
import { InputDigest } from '~/features/form/read/input-digest'
import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { Expiry } from '~/kit/expiry'
import { Moment } from '~/kit/time'
import type { Asked } from './answer-queries'
import { useAsks } from './use-asks'

/** The cards of the list, each a link to its form. */
export function AnswersList({
  calls,
  box,
}: {
  calls: Asked[]
  box: RefObject<HTMLUListElement | null>
}) {
  const { t } = useTranslation('answers')
  return (
    <ul ref={box} aria-label={t('list')} className="grid gap-2">
      {calls.map((call) => (
        <AskedCard key={call.id} call={call} />
      ))}
    </ul>
  )
}

function AskedCard({ call }: { call: Asked }) {
  const { t } = useTranslation(['answers', 'approvals'])
  const asks = useAsks()
  const { data: tool } = useQuery(toolAt(call.tool, call.version, call.mode))
  return (
    <li className="relative grid min-w-0 gap-2 rounded-lg border border-line p-4 focus-within:border-accent focus-within:bg-raised hover:bg-raised">
      <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 font-medium">
          <Link
            to="/approvals/answers/$id"
            params={{ id: call.id }}
            data-answer={call.id}
            className="break-words after:absolute after:inset-0 after:rounded-lg"
          >
            {asks(call, tool?.name ?? call.tool)}
          </Link>
        </h2>
        {call.late && <Badge>{t('nobody_waits')}</Badge>}
      </div>
      <p className="min-w-0">
        <InputDigest tool={tool} input={call.input} />
      </p>
      <div className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        <span>
          {t('approvals:asked')} <Moment at={call.requested_at} />
        </span>
        <Expiry at={call.expires_at} />
      </div>
    </li>
  )
}
