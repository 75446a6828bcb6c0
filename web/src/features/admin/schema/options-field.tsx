import { Plus, Trash2 } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Input } from '~/kit/field'
import type { Schema } from './kinds'
import { type Option, optionsOf, withOptions } from './options'

/** The choices of an `enum`: what is sent, and what people read. */
export function OptionsField({
  schema,
  onChange,
}: {
  schema: Schema
  onChange: (schema: Schema) => void
}) {
  const { t } = useTranslation('admin')
  const options = optionsOf(schema)
  const put = (changed: Option[]) => onChange(withOptions(schema, changed))
  const free = () => {
    let number = options.length + 1
    while (options.some(({ value }) => value === `option_${number}`)) number++
    return schema.type === 'string' || schema.type === undefined
      ? `option_${number}`
      : String(number)
  }
  return (
    <div className="grid gap-2">
      <p className="font-medium">{t('schema.options')}</p>
      <ul className="grid gap-2">
        {options.map((option, index) => (
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} className="flex gap-2">
            <Input
              aria-label={t('schema.option_value', { number: index + 1 })}
              placeholder={t('schema.option_value_short')}
              className="min-w-0 font-mono"
              value={option.value}
              onChange={(event) =>
                put(options.with(index, { ...option, value: event.target.value }))
              }
            />
            <Input
              aria-label={t('schema.option_label', { number: index + 1 })}
              placeholder={t('schema.label')}
              className="min-w-0"
              value={option.label}
              onChange={(event) =>
                put(options.with(index, { ...option, label: event.target.value }))
              }
            />
            <Button
              tone="quiet"
              size="icon"
              className="shrink-0"
              aria-label={t('schema.option_remove', { number: index + 1 })}
              disabled={options.length === 1}
              onClick={() => put(options.toSpliced(index, 1))}
            >
              <Trash2 aria-hidden />
            </Button>
          </li>
        ))}
      </ul>
      <Button
        size="small"
        className="justify-self-start"
        onClick={() => put([...options, { value: free(), label: '' }])}
      >
        <Plus aria-hidden />
        {t('schema.option_add')}
      </Button>
    </div>
  )
}
