import { useTranslation } from '~/i18n'
import { CopyButton } from '~/kit/copy'
import { useEditing, useInside } from '../context'
import { DurationInput } from '../duration-input'
import { workerSnippet } from './worker-snippet'

/** A program outside, which fetches its calls. */
export function ExternalPanel() {
  const { t } = useTranslation('kinds')
  const { slug } = useEditing().definition
  const snippet = workerSnippet(location.origin, slug)
  return (
    <>
      <PendingTime />
      <div className="grid min-w-0 gap-1.5">
        <p className="font-medium">{t('worker')}</p>
        <p className="text-xs text-muted">{t('worker_hint')}</p>
        <div className="relative min-w-0">
          <pre
            tabIndex={0}
            aria-label={t('worker')}
            className="min-w-0 overflow-x-auto rounded-md border border-line bg-raised p-3 pr-12 font-mono text-xs"
          >
            {snippet}
          </pre>
          <div className="absolute top-1.5 right-1.5 rounded-md bg-raised">
            <CopyButton text={snippet} name={t('copy_worker')} />
          </div>
        </div>
      </div>
    </>
  )
}

/** A person, who answers in a form. */
export function SpacePanel() {
  const { t } = useTranslation('kinds')
  const { output_schema } = useEditing().definition
  return (
    <>
      <p className="rounded-md border border-line bg-raised p-3">
        {t(output_schema ? 'space_form' : 'space_json')}
      </p>
      <PendingTime />
    </>
  )
}

/** 30 days. */
const PENDING_MAX = 30 * 86_400_000

function PendingTime() {
  const { t } = useTranslation('kinds')
  const { path, value, set, fault, isFixed } = useInside('implementation', ['pending_ttl_ms'])
  return (
    <DurationInput
      path={path}
      label={t('pending_ttl_ms')}
      hint={t('pending_ttl_hint')}
      unit="hour"
      max={PENDING_MAX}
      value={typeof value === 'number' ? value : null}
      fault={fault}
      disabled={isFixed}
      onChange={(ms) => set(ms ?? undefined)}
    />
  )
}
