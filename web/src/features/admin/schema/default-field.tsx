import { useId, useState } from 'react'

import { parse, stringify } from '~/api/exact'
import { useTranslation } from '~/i18n'
import { Field, Input, Select } from '~/kit/field'
import type { Kind, Schema } from './kinds'
import { optionsOf } from './options'

interface Props {
  kind: Kind
  schema: Schema
  onChange: (value: unknown) => void
}

/** What a field holds when nothing is said. */
export function DefaultField({ kind, schema, onChange }: Props) {
  const { t } = useTranslation('admin')
  const id = useId()
  const value = schema.default
  const label = t('schema.default')
  if (kind === 'boolean' || kind === 'enum') {
    const choices = kind === 'boolean' ? [true, false] : (schema.enum as unknown[])
    const names =
      kind === 'boolean' ? [t('yes'), t('no')] : optionsOf(schema).map((o) => o.label || o.value)
    return (
      <Field id={id} label={label}>
        <Select
          id={id}
          value={String(choices.indexOf(value))}
          onChange={(event) => onChange(choices[Number(event.target.value)])}
        >
          <option value="-1">{t('schema.no_default')}</option>
          {names.map((name, index) => (
            // oxlint-disable-next-line react/no-array-index-key
            <option key={index} value={index}>
              {name}
            </option>
          ))}
        </Select>
      </Field>
    )
  }
  if (kind === 'object' || kind === 'array') {
    return <JsonDefault id={id} label={label} value={value} kind={kind} onChange={onChange} />
  }
  const isNumber = kind === 'number'
  return (
    <Field id={id} label={label}>
      <Input
        id={id}
        type={isNumber ? 'number' : 'text'}
        step="any"
        value={typeof value === 'string' || typeof value === 'number' ? value : ''}
        onChange={({ target }) =>
          onChange(target.value === '' ? undefined : isNumber ? target.valueAsNumber : target.value)
        }
      />
    </Field>
  )
}

interface JsonProps {
  id: string
  label: string
  value: unknown
  kind: 'object' | 'array'
  onChange: (value: unknown) => void
}

function JsonDefault({ id, label, value, kind, onChange }: JsonProps) {
  const { t } = useTranslation('admin')
  const [typed, setTyped] = useState<string>()
  const isWrong = typed !== undefined && !parsed(typed, kind)
  const fault = isWrong ? t(`schema.default_${kind}`) : undefined
  return (
    <Field id={id} label={label} fault={fault}>
      <Input
        id={id}
        className="font-mono"
        placeholder={kind === 'array' ? '[]' : '{}'}
        value={typed ?? (value === undefined ? '' : stringify(value))}
        aria-invalid={fault !== undefined}
        aria-describedby={fault ? `${id}-fault` : undefined}
        onChange={({ target: { value: text } }) => {
          const read = text === '' ? { value: undefined } : parsed(text, kind)
          setTyped(text === '' ? undefined : text)
          if (read) onChange(read.value)
        }}
        onBlur={() => typed !== undefined && parsed(typed, kind) && setTyped(undefined)}
      />
    </Field>
  )
}

function parsed(text: string, kind: 'object' | 'array'): { value: unknown } | undefined {
  try {
    const value = parse(text)
    const fits =
      typeof value === 'object' && value !== null && Array.isArray(value) === (kind === 'array')
    return fits ? { value } : undefined
  } catch {
    return undefined
  }
}
