import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'

import { useMay } from '~/api/me'
import { Inbox, NoInbox, useItems } from '~/features/approvals/inbox'
import { STANDING_STATES } from '~/features/approvals/search'
import { StandingList } from '~/features/approvals/standing-list'
import { standingBy } from '~/features/approvals/standing-queries'
import { useTranslation } from '~/i18n'
import { Empty } from '~/kit/states'

const route = getRouteApi('/inside/approvals/standing')

export default function StandingPage() {
  const { t } = useTranslation('approvals')
  if (useMay('approvals.tenant.read')) return <Standing />
  return <NoInbox title={t('standing.title')} why={t('not_yours')} />
}

function Standing() {
  const { t } = useTranslation('approvals')
  const { status = 'active' } = route.useSearch()
  const list = useInfiniteQuery(standingBy(status))
  const approvals = useItems(list.data)
  return (
    <Inbox
      of="standing"
      title={t('standing.title')}
      list={list}
      keys={NO_KEYS}
      above={
        <>
          <p className="max-w-prose text-muted">{t('standing.explained')}</p>
          <nav aria-label={t('filter')} className="flex flex-wrap gap-1">
            {STANDING_STATES.map((state) => (
              <Link
                key={state}
                to="/approvals/standing"
                search={{ status: state === 'active' ? undefined : state }}
                activeOptions={{ exact: true }}
                aria-current={state === status ? 'page' : undefined}
                className="rounded-md px-3 py-1.5 font-medium text-muted hover:bg-raised hover:text-text aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent"
              >
                {t(`standing.status.${state}`)}
              </Link>
            ))}
          </nav>
        </>
      }
      empty={
        <Empty title={t(status === 'active' ? 'standing.empty' : 'standing.empty_other')}>
          {status === 'active' && <p>{t('standing.empty_hint')}</p>}
        </Empty>
      }
    >
      <StandingList approvals={approvals} />
    </Inbox>
  )
}

const NO_KEYS = [] as const
