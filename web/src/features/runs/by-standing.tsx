import { Link } from '@tanstack/react-router'
import { ShieldCheck } from 'lucide-react'

import { actorOf } from '~/api/actor'
import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { ActorName } from '~/kit/people'
import type { RunEvent } from './queries'

/** Tells that nobody was asked about a call, because a standing approval let it through, and whose that is. */
export function ByStanding({ events }: { events: readonly RunEvent[] }) {
  const { t } = useTranslation('runs')
  const mayRead = useMay('approvals.tenant.read')
  const approved = events.find(
    ({ type, payload }) => type === 'tool.approved' && payload.standing === true,
  )
  if (!approved) return null
  return (
    <p className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 rounded-lg border border-line bg-raised p-3">
      <ShieldCheck aria-hidden className="size-4 shrink-0 text-good" />
      <span>{t('by_standing')}</span>
      <ActorName actor={actorOf(String(approved.payload.approved_by ?? ''))} />
      {mayRead && (
        <Link
          to="/approvals/standing"
          search={{ status: 'all' }}
          className="text-accent underline underline-offset-2"
        >
          {t('by_standing_link')}
        </Link>
      )}
    </p>
  )
}
