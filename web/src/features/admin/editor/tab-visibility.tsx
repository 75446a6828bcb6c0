import { ShieldCheck } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { asksFirst } from '../preview/specs'
import { useEditing, usePart } from './context'
import { ChoicePart, SwitchPart, TextPart, WordsPart } from './parts'

export function VisibilityTab() {
  const { t } = useTranslation('admin')
  return (
    <div className="grid gap-6">
      <div className="grid gap-4 sm:grid-cols-2">
        <SwitchPart name="enabled" label={t('editor.enabled')} hint={t('editor.enabled_hint')} />
        <SwitchPart name="is_active" label={t('editor.is_active')} hint={t('editor.active_hint')} />
      </div>
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <Level />
        <ChoicePart
          name="permission_policy"
          label={t('editor.permission_policy')}
          options={[
            { value: '', label: t('policy.derived'), is: null },
            { value: 'auto', label: t('policy.auto'), is: 'auto' },
            { value: 'always_ask', label: t('policy.always_ask'), is: 'always_ask' },
          ]}
        />
      </div>
      <Meaning />
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <Status />
        <TextPart
          name="required_permission"
          label={t('editor.required_permission')}
          hint={t('editor.required_permission_hint')}
          isCode
        />
        <WordsPart
          name="tenant_slugs"
          label={t('editor.tenant_slugs')}
          hint={t('editor.tenant_slugs_hint')}
        />
      </div>
    </div>
  )
}

function Level() {
  const { t } = useTranslation('admin')
  const { isOverride } = useEditing()
  const levels = ['read', 'draft', 'write', 'destructive'].map((level) => ({
    value: level,
    label: t(`level.${level}`),
    is: level as string | null,
  }))
  return (
    <ChoicePart
      name="permission_level"
      label={t('editor.permission_level')}
      hint={isOverride ? t('editor.level_up_only') : undefined}
      options={[{ value: '', label: t('level.none'), is: null }, ...levels]}
    />
  )
}

/** What the level and the policy together mean for an agent's call, by the rules of the server. */
function Meaning() {
  const { t } = useTranslation('admin')
  const { definition } = useEditing()
  const { permission_level: level, permission_policy: policy } = definition
  const asks = asksFirst(definition)
  const why =
    level === 'destructive'
      ? 'destructive'
      : policy
        ? `policy_${policy}`
        : `level_${level ?? 'none'}`
  return (
    <p className="flex items-start gap-2 rounded-md bg-raised p-3">
      <ShieldCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-accent" />
      <span>
        {t(asks ? 'meaning.asks' : 'meaning.runs')} {t(`meaning.${why}`)}
        {level === 'write' && policy === 'auto' && ` ${t('meaning.unless')}`} {t('meaning.people')}
      </span>
    </p>
  )
}

/** The states that a tool can be put into by hand; publishing has its own button. */
function Status() {
  const { t } = useTranslation('admin')
  const { before, isOverride, base } = useEditing()
  const { value } = usePart('status')
  if (!base) return null
  const next = isOverride
    ? ['published', 'deprecated', 'disabled']
    : ({ published: ['deprecated', 'disabled'], disabled: ['draft'] }[before.status] ?? [
        'disabled',
      ])
  const states = [...new Set([before.status, value, ...next])]
  return (
    <ChoicePart
      name="status"
      label={t('list.status')}
      hint={t('editor.status_hint')}
      options={states.map((status) => ({
        value: status,
        label: t(`status.${status}`),
        is: status,
      }))}
    />
  )
}
