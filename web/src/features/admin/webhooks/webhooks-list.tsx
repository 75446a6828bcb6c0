import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '~/i18n'

import { useMay } from '~/api/me'
import { Badge } from '~/kit/badge'
import { Button } from '~/kit/button'
import { Empty, Fault, Loading } from '~/kit/states'
import { CreateDialog } from './create-dialog'
import { type Webhook, webhooks } from './queries'

export function WebhooksList() {
  const { t } = useTranslation('webhooks')
  const mayWrite = useMay('webhooks.tenant.write')
  const { data, error, refetch } = useQuery(webhooks)
  const [isMaking, setMaking] = useState(false)
  const button = mayWrite && (
    <Button tone="primary" onClick={() => setMaking(true)}>
      <Plus aria-hidden />
      {t('new')}
    </Button>
  )
  return (
    <div className="grid gap-5">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="grid gap-1">
          <h1 className="text-xl font-semibold">{t('title')}</h1>
          <p className="max-w-prose text-muted">{t('subtitle')}</p>
        </div>
        {data && data.length > 0 && button}
      </div>
      {data?.length === 0 ? (
        <Empty title={t('none')}>
          <div className="grid justify-items-center gap-3">
            <p>{t('none_hint')}</p>
            {button}
          </div>
        </Empty>
      ) : data ? (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {data.map((webhook) => (
            <Line key={webhook.id} webhook={webhook} />
          ))}
        </ul>
      ) : error ? (
        <Fault error={error} onRetry={() => void refetch()} />
      ) : (
        <Loading />
      )}
      {isMaking && <CreateDialog onClose={() => setMaking(false)} />}
    </div>
  )
}

function Line({ webhook }: { webhook: Webhook }) {
  const { id, url, events } = webhook
  return (
    <li className="relative grid min-w-0 gap-1.5 px-4 py-3 hover:bg-raised">
      <div className="flex min-w-0 flex-wrap items-center gap-2">
        <Link
          to="/admin/webhooks/$id"
          params={{ id }}
          className="min-w-0 font-medium break-all after:absolute after:inset-0 hover:underline"
        >
          {url}
        </Link>
        <State webhook={webhook} />
      </div>
      <p className="font-mono text-xs break-words text-muted">{events.join(', ')}</p>
    </li>
  )
}

/** Whether it works, and why not. */
export function State({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation('webhooks')
  const { enabled, disabled_reason, failing_since } = webhook
  if (!enabled) {
    const why = disabled_reason ? t(`off.${disabled_reason}`) : t('off.hand')
    return <Badge tone={disabled_reason ? 'bad' : 'plain'}>{why}</Badge>
  }
  return <Badge tone={failing_since ? 'warn' : 'good'}>{t(failing_since ? 'failing' : 'on')}</Badge>
}
