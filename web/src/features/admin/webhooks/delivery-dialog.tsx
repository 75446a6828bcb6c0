import { useState } from 'react'
import { useTranslation } from '~/i18n'

import { useMay } from '~/api/me'
import { Button } from '~/kit/button'
import { CodeBlock } from '~/kit/code-block'
import { Dialog } from '~/kit/dialog'
import { FactList } from '~/kit/facts'
import { Fault } from '~/kit/states'
import { Moment } from '~/kit/time'
import { type Delivery, redeliver } from './queries'
import { DeliveryState } from './deliveries'
import { useAct } from './use-act'

/** What was sent, what came back, and the way to send it again. */
export function DeliveryDialog({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) {
  const { t } = useTranslation('webhooks')
  const mayWrite = useMay('webhooks.tenant.write')
  const [shown, setShown] = useState(delivery)
  const { busy, problem, act } = useAct()
  const { id, type, attempts, response_status, response_body, error, payload } = shown
  const facts: [string, React.ReactNode][] = [
    [t('state'), <DeliveryState key="state" delivery={shown} />],
    ['webhook-id', <code key="id">{id}</code>],
    [t('happened'), <Moment key="at" at={shown.created_at} />],
    [t('attempts'), attempts],
  ]
  if (shown.last_attempt_at) {
    facts.push([t('last_attempt'), <Moment key="last" at={shown.last_attempt_at} />])
  }
  if (shown.next_attempt_at) {
    facts.push([t('next_attempt'), <Moment key="next" at={shown.next_attempt_at} />])
  }
  if (response_status) facts.push([t('answer_status'), response_status])
  if (error) facts.push([t('error'), error])
  return (
    <Dialog open as="wide" title={type} onClose={onClose}>
      <div className="grid min-w-0 gap-4">
        <FactList facts={facts} />
        <Part title={t('payload')} none={t('payload_none')}>
          {payload && JSON.stringify(payload, null, 2)}
        </Part>
        <Part title={t('answer')} none={t('answer_none')}>
          {response_body}
        </Part>
        {problem !== undefined && <Fault error={problem} />}
        {mayWrite && (
          <div className="flex justify-end">
            <Button
              tone="primary"
              disabled={busy}
              onClick={() => void act(async () => setShown(await redeliver(shown)))}
            >
              {t('redeliver')}
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  )
}

function Part({
  title,
  none,
  children,
}: {
  title: string
  none: string
  children?: string | null
}) {
  return (
    <div className="grid min-w-0 gap-1.5">
      <h3 className="font-medium">{title}</h3>
      {children ? (
        <CodeBlock text={children} label={title} language="json" className="max-h-72" />
      ) : (
        <p className="text-muted">{none}</p>
      )}
    </div>
  )
}
