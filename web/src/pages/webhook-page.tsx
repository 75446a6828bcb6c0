import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from '~/i18n'

import { WebhookDetail } from '~/features/admin/webhooks/detail'
import { ForWebhooks } from '~/features/admin/webhooks/for-webhooks'
import { webhookOf } from '~/features/admin/webhooks/queries'
import { Fault, Loading } from '~/kit/states'

const route = getRouteApi('/inside/admin/webhooks/$id')

export default function WebhookPage() {
  return (
    <ForWebhooks>
      <Shown />
    </ForWebhooks>
  )
}

function Shown() {
  const { t } = useTranslation('webhooks')
  const { id } = route.useParams()
  const { data, error, refetch } = useQuery(webhookOf(id))
  if (data) return <WebhookDetail key={id} webhook={data} />
  if (!error) return <Loading />
  return (
    <div className="grid gap-4">
      <h1 className="text-xl font-semibold">{t('title')}</h1>
      <Fault error={error} onRetry={() => void refetch()} />
    </div>
  )
}
