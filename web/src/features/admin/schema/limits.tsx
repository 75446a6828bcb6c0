import { useId } from 'react'

import { useTranslation } from '~/i18n'
import { Field, Input } from '~/kit/field'
import { type Kind, type Schema, withKeyword } from './kinds'

const NUMBERS: Partial<Record<Kind, readonly string[]>> = {
  number: ['minimum', 'maximum'],
  text: ['minLength', 'maxLength'],
  array: ['minItems', 'maxItems'],
}

interface Props {
  kind: Kind
  schema: Schema
  onChange: (schema: Schema) => void
}

/** The bounds that people ask for most. Any other can be said in the JSON, and stays. */
export function Limits({ kind, schema, onChange }: Props) {
  const { t } = useTranslation('admin')
  const id = useId()
  return NUMBERS[kind]?.map((keyword) => {
    const value = schema[keyword]
    return (
      <Field key={keyword} id={`${id}-${keyword}`} label={t(`schema.${keyword}`)}>
        <Input
          id={`${id}-${keyword}`}
          type="number"
          step={kind === 'number' ? 'any' : 1}
          min={kind === 'number' ? undefined : 0}
          value={typeof value === 'number' ? value : ''}
          onChange={({ target }) => {
            const number = target.value === '' ? undefined : target.valueAsNumber
            onChange(withKeyword(schema, keyword, number))
          }}
        />
      </Field>
    )
  })
}
