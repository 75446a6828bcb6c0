import { ForWebhooks } from '~/features/admin/webhooks/for-webhooks'
import { WebhooksList } from '~/features/admin/webhooks/webhooks-list'

export default function WebhooksPage() {
  return (
    <ForWebhooks>
      <WebhooksList />
    </ForWebhooks>
  )
}
