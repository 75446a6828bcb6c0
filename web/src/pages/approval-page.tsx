import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useLocation } from '@tanstack/react-router'

import { Problem } from '~/api/problem'
import { ApprovalDetail } from '~/features/approvals/approval-detail'
import { approvalOf } from '~/features/approvals/approval-queries'
import { useTranslation } from '~/i18n'
import { refusalWords } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { Empty, Fault, Loading } from '~/kit/states'

const route = getRouteApi('/inside/approvals/$id')

export default function ApprovalPage() {
  const { t } = useTranslation('approvals')
  const { id } = route.useParams()
  const hash = useLocation({ select: (location) => location.hash })
  const { data: approval, error, refetch } = useQuery(approvalOf(id))
  if (approval) {
    return <ApprovalDetail key={id} approval={approval} editAtOnce={hash === 'edit'} />
  }
  if (!error) return <Loading />
  return (
    <div className="grid gap-4">
      <h1 className="text-xl font-semibold">{t('approval')}</h1>
      {error instanceof Problem && error.status === 403 ? (
        <Empty title={t('not_for_you.title')}>
          <div className="grid justify-items-center gap-4">
            <p>{t('not_for_you.text', { reason: refusalWords(error) })}</p>
            <Button asChild tone="primary">
              <Link to="/runs" search={{ status: 'needs_approval' }}>
                {t('not_for_you.action')}
              </Link>
            </Button>
          </div>
        </Empty>
      ) : (
        <Fault error={error} onRetry={() => void refetch()} />
      )}
    </div>
  )
}
