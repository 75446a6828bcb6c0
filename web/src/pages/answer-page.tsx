import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'

import { Problem } from '~/api/problem'
import { AnswerDetail } from '~/features/answers/answer-detail'
import { askedBy } from '~/features/answers/answer-queries'
import { useTranslation } from '~/i18n'
import { Empty, Fault, Loading } from '~/kit/states'

const route = getRouteApi('/inside/approvals/answers/$id')

export default function AnswerPage() {
  const { t } = useTranslation('answers')
  const { id } = route.useParams()
  const { data: call, error, refetch } = useQuery(askedBy(id))
  if (call) return <AnswerDetail key={id} call={call} />
  if (!error) return <Loading />
  return (
    <div className="grid gap-4">
      <h1 className="text-xl font-semibold">{t('title')}</h1>
      {error instanceof Problem && error.status === 403 ? (
        <Empty title={t('not_yours')} />
      ) : (
        <Fault error={error} onRetry={() => void refetch()} />
      )}
    </div>
  )
}
