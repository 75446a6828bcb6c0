import { useTranslation } from '~/i18n'
import { Field, Input } from '~/kit/field'
import { Switch } from '~/kit/switch'
import { idOf, useEditing, usePart } from './context'
import type { Execution } from './definition'
import { DurationInput } from './duration-input'
import { isAnswered } from './inside'
import { KindChooser } from './kinds/chooser'
import { KindPanel } from './kinds/panel'
import { NumberInput, SwitchPart } from './parts'

export function ExecutionTab() {
  return (
    <div className="grid gap-6">
      <KindChooser />
      <KindPanel />
      <section aria-labelledby="limits-title" className="grid min-w-0 gap-5">
        <LimitsTitle />
        <Limits />
      </section>
    </div>
  )
}

function LimitsTitle() {
  const { t } = useTranslation('admin')
  return (
    <h2 id="limits-title" className="font-semibold">
      {t('editor.limits')}
    </h2>
  )
}

/** A day: no call may take longer. */
const TIMEOUT_MAX = 86_400_000

function Limits() {
  const { t } = useTranslation('admin')
  const timeout = usePart('timeout_ms')
  const execution = usePart('execution')
  const { definition, faults } = useEditing()
  const set = (change: Partial<Execution>) => execution.set({ ...execution.value, ...change })
  const faultAt = (path: string) => faults.find((fault) => fault.path === path)?.message
  const group = idOf('/execution/concurrency_group')
  const groupFault = faultAt('/execution/concurrency_group') ?? faultAt('/execution')
  return (
    <>
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <DurationInput
          path="/timeout_ms"
          label={t('editor.timeout')}
          max={TIMEOUT_MAX}
          hint={t(
            isAnswered(definition.implementation_type)
              ? 'editor.timeout_answered'
              : 'editor.timeout_hint',
          )}
          value={timeout.value}
          fault={timeout.fault}
          disabled={timeout.isFixed}
          onChange={timeout.set}
        />
        <NumberInput
          path="/execution/max_concurrency"
          label={t('editor.max_concurrency')}
          hint={t('editor.max_concurrency_hint')}
          value={execution.value.max_concurrency}
          fault={faultAt('/execution/max_concurrency')}
          disabled={execution.isFixed}
          onChange={(max_concurrency) => set({ max_concurrency })}
        />
        <Field
          id={group}
          label={t('editor.concurrency_group')}
          hint={t('editor.concurrency_group_hint')}
          fault={groupFault}
        >
          <Input
            id={group}
            className="font-mono"
            value={execution.value.concurrency_group}
            disabled={execution.isFixed}
            aria-invalid={groupFault !== undefined}
            aria-describedby={`${group}-hint ${group}-fault`}
            onChange={(event) => set({ concurrency_group: event.target.value })}
          />
        </Field>
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <SwitchPart name="is_async" label={t('editor.is_async')} hint={t('editor.is_async_hint')} />
        <div className="flex items-start gap-3">
          <Switch
            id="is-pure"
            checked={execution.value.is_pure}
            disabled={execution.isFixed}
            aria-labelledby="is-pure-label"
            aria-describedby="is-pure-hint"
            onChange={(is_pure) => set({ is_pure })}
          />
          <div className="grid gap-0.5">
            <span id="is-pure-label" className="font-medium">
              {t('editor.is_pure')}
            </span>
            <span id="is-pure-hint" className="text-xs text-muted">
              {t('editor.is_pure_hint')}
            </span>
          </div>
        </div>
      </div>
    </>
  )
}
