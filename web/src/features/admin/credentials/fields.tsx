import { useTranslation } from '~/i18n'
import { Field, Input } from '~/kit/field'
import { SecretInput } from '~/kit/secret-input'
import { described } from '../editor/parts'
import { idOf, type Sending } from './use-sending'

interface Props {
  path: string
  label: string
  hint?: string
  value: string
  sending: Sending
  onChange: (value: string) => void
  placeholder?: string
  type?: 'url'
  isFirst?: boolean
}

/** A text that is no secret. Nothing is offered for it: what was typed elsewhere has no place here. */
export function TextField({ path, label, hint, sending, onChange, isFirst, ...rest }: Props) {
  const id = idOf(path)
  const fault = sending.faultAt(path)
  return (
    <Field id={id} label={label} hint={hint} fault={fault}>
      <Input
        id={id}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        className="font-mono"
        aria-invalid={fault !== undefined}
        aria-describedby={described(id, hint, fault)}
        data-first={isFirst || undefined}
        onChange={({ target }) => {
          sending.mend(path)
          onChange(target.value)
        }}
        {...rest}
      />
    </Field>
  )
}

/** A text that is one. */
export function SecretField({ path, label, hint, value, sending, onChange }: Props) {
  const id = idOf(path)
  const fault = sending.faultAt(path)
  return (
    <Field id={id} label={label} hint={hint} fault={fault}>
      <SecretInput
        id={id}
        name={label}
        value={value}
        aria-invalid={fault !== undefined}
        aria-describedby={described(id, hint, fault)}
        onChange={({ target }) => {
          sending.mend(path)
          onChange(target.value)
        }}
      />
    </Field>
  )
}

export interface Provider {
  provider_key: string
  provider_variant: string
}

interface ProviderProps {
  value: Provider
  sending: Sending
  onChange: (value: Provider) => void
}

/** Whom a credential is for, so that a tool of the program finds it without being told. */
export function ProviderFields({ value, sending, onChange }: ProviderProps) {
  const { t } = useTranslation('credentials')
  return (
    <fieldset className="grid min-w-0 gap-3 rounded-lg border border-line p-4">
      <legend className="px-1 font-medium">{t('provider.title')}</legend>
      <p className="text-xs text-muted">{t('provider.hint')}</p>
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextField
          path="/provider_key"
          label={t('provider.key')}
          value={value.provider_key}
          placeholder="web_search"
          sending={sending}
          onChange={(provider_key) => onChange({ ...value, provider_key })}
        />
        <TextField
          path="/provider_variant"
          label={t('provider.variant')}
          value={value.provider_variant}
          placeholder="serper"
          sending={sending}
          onChange={(provider_variant) => onChange({ ...value, provider_variant })}
        />
      </div>
    </fieldset>
  )
}
