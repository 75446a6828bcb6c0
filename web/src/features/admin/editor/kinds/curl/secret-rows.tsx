import { KeyRound } from 'lucide-react'
import { useId } from 'react'

import { useTranslation } from '~/i18n'
import { Field, Input, Select } from '~/kit/field'
import type { Credential } from '../../../credentials/queries'
import type { Secret } from './proposal'

/** Where a secret goes: into a new credential, to one that there is, or nowhere. */
export type SecretChoice = { as: 'new' | 'known'; label: string } | { as: 'none' }

interface Props {
  secrets: readonly Secret[]
  known: readonly Credential[]
  mayWrite: boolean
  choiceOf: (id: string) => SecretChoice
  onChange: (id: string, choice: SecretChoice) => void
}

/** The secrets of a request, without what they are. */
export function SecretRows({ secrets, known, mayWrite, choiceOf, onChange }: Props) {
  const { t } = useTranslation('curl')
  return (
    <section aria-label={t('secrets')} className="grid min-w-0 gap-2">
      <p className="font-medium">{t('secrets')}</p>
      <p className="text-xs text-muted">{t('secrets_hint')}</p>
      {secrets.map((secret) => (
        <Row
          key={secret.id}
          secret={secret}
          known={known}
          canBeNew={mayWrite && secret.payload !== undefined}
          choice={choiceOf(secret.id)}
          onChange={(choice) => onChange(secret.id, choice)}
        />
      ))}
    </section>
  )
}

interface RowProps {
  secret: Secret
  known: readonly Credential[]
  canBeNew: boolean
  choice: SecretChoice
  onChange: (choice: SecretChoice) => void
}

function Row({ secret, known, canBeNew, choice, onChange }: RowProps) {
  const { t } = useTranslation('curl')
  const id = useId()
  const value = choice.as === 'known' ? `known:${choice.label}` : choice.as
  return (
    <div className="grid min-w-0 gap-2 rounded-md border border-line p-3">
      <p className="flex min-w-0 items-center gap-2 font-mono text-xs">
        <KeyRound aria-hidden className="size-4 shrink-0 text-muted" />
        <span className="min-w-0 break-all">
          {secret.shown}: {secret.scheme}••••
        </span>
      </p>
      <div className="grid min-w-0 gap-2 sm:grid-cols-2">
        <Field id={`${id}-to`} label={t('secret_to', { name: secret.shown })}>
          <Select
            id={`${id}-to`}
            value={value}
            onChange={({ target }) => {
              const label = target.value.slice('known:'.length)
              if (target.value === 'new') onChange({ as: 'new', label: '' })
              else if (target.value === 'none') onChange({ as: 'none' })
              else onChange({ as: 'known', label })
            }}
          >
            {canBeNew && <option value="new">{t('secret_new')}</option>}
            {choice.as === 'known' && !known.some(({ label }) => label === choice.label) && (
              <option value={value}>{choice.label}</option>
            )}
            {known.map(({ id, label }) => (
              <option key={id} value={`known:${label}`}>
                {label}
              </option>
            ))}
            <option value="none">{t('secret_none')}</option>
          </Select>
        </Field>
        {choice.as === 'new' && (
          <Field id={`${id}-label`} label={t('secret_label')}>
            <Input
              id={`${id}-label`}
              className="font-mono"
              required
              value={choice.label}
              onChange={({ target }) => onChange({ as: 'new', label: target.value })}
            />
          </Field>
        )}
      </div>
    </div>
  )
}
