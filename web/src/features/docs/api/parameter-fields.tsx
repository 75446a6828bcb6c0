import { useId } from 'react'

import { useTranslation } from '~/i18n'
import { Field, Input, Select } from '~/kit/field'
import { typeOf } from './example'
import type { Parameter } from './model'
import { keyOf } from './request'

interface Props {
  parameters: Parameter[]
  values: Record<string, string>
  missing: string[]
  onChange: (parameter: Parameter, value: string) => void
}

/** A field for each parameter; those that are needed come first. */
export function ParameterFields({ parameters, values, missing, onChange }: Props) {
  const { t } = useTranslation('docs')
  const needed = parameters.filter(({ required }) => required)
  const others = parameters.filter(({ required }) => !required)
  const field = (parameter: Parameter) => (
    <ParameterField
      key={keyOf(parameter)}
      parameter={parameter}
      value={values[keyOf(parameter)] ?? ''}
      isMissing={missing.includes(keyOf(parameter))}
      onChange={(value) => onChange(parameter, value)}
    />
  )
  return (
    <>
      {needed.map(field)}
      {others.length > 0 && (
        <details>
          <summary className="w-fit cursor-pointer rounded text-accent">
            {t('api.optional', { count: others.length })}
          </summary>
          <div className="mt-3 grid gap-3 sm:grid-cols-2">{others.map(field)}</div>
        </details>
      )}
    </>
  )
}

interface FieldProps {
  parameter: Parameter
  value: string
  isMissing: boolean
  onChange: (value: string) => void
}

function ParameterField({ parameter, value, isMissing, onChange }: FieldProps) {
  const { t } = useTranslation('docs')
  const id = useId()
  const { name, in: place, schema = {} } = parameter
  const choices = schema.enum ?? (typeOf(schema) === 'boolean' ? [true, false] : undefined)
  const given = {
    id,
    value,
    'data-key': keyOf(parameter),
    'aria-required': parameter.required || undefined,
    'aria-invalid': isMissing || undefined,
    'aria-describedby': isMissing ? `${id}-fault` : undefined,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  }
  const label = (
    <>
      <code className="font-mono text-xs">{name}</code>{' '}
      <span className="text-xs font-normal text-muted">{t(`api.in.${place}`)}</span>
    </>
  )
  return (
    <Field id={id} label={label} fault={isMissing ? t('api.missing') : undefined}>
      {choices ? (
        <Select {...given}>
          <option value="">–</option>
          {choices.map((choice) => (
            <option key={String(choice)}>{String(choice)}</option>
          ))}
        </Select>
      ) : (
        <Input {...given} autoComplete="off" spellCheck={false} />
      )}
    </Field>
  )
}
