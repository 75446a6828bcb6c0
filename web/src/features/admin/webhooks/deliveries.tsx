import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '~/i18n'

import { Badge } from '~/kit/badge'
import { Fault, Loading } from '~/kit/states'
import { Moment } from '~/kit/time'
import { DeliveryDialog } from './delivery-dialog'
import { deliveriesOf, type Delivery } from './queries'

/** What a webhook was told, newest first. */
export function Deliveries({ id }: { id: string }) {
  const { t } = useTranslation('webhooks')
  const { data, error, refetch } = useQuery(deliveriesOf(id))
  const [shown, setShown] = useState<Delivery>()
  if (!data) return error ? <Fault error={error} onRetry={() => void refetch()} /> : <Loading />
  if (data.items.length === 0) return <p className="text-muted">{t('deliveries_none')}</p>
  return (
    <>
      <ul className="divide-y divide-line rounded-lg border border-line">
        {data.items.map((delivery) => (
          <li key={delivery.id} className="relative grid min-w-0 gap-1 px-3 py-2.5 hover:bg-raised">
            <div className="flex min-w-0 flex-wrap items-center justify-between gap-2">
              <button
                type="button"
                className="min-w-0 text-left font-mono text-xs break-all after:absolute after:inset-0 hover:underline"
                onClick={() => setShown(delivery)}
              >
                {delivery.type}
              </button>
              <DeliveryState delivery={delivery} />
            </div>
            <div className="flex flex-wrap gap-x-3 text-xs text-muted">
              <span className="relative z-10">
                <Moment at={delivery.created_at} />
              </span>
              <span>{t('attempt_count', { count: delivery.attempts })}</span>
              {delivery.error && <span className="break-words">{delivery.error}</span>}
            </div>
          </li>
        ))}
      </ul>
      {shown && <DeliveryDialog delivery={shown} onClose={() => setShown(undefined)} />}
    </>
  )
}

const TONES = { delivered: 'good', pending: 'warn', failed: 'bad' } as const

export function DeliveryState({ delivery: { status } }: { delivery: Delivery }) {
  const { t } = useTranslation('webhooks')
  const tone = TONES[status as keyof typeof TONES] ?? 'plain'
  return <Badge tone={tone}>{t(`delivery.${status}`)}</Badge>
}
