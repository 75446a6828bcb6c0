import { type ReactNode, useId } from 'react'

import { useTranslation } from '~/i18n'
import { Field, Input, Select } from '~/kit/field'
import { DefaultField } from './default-field'
import { FieldList } from './field-list'
import {
  isSchema,
  KINDS,
  type Kind,
  kindOf,
  type Schema,
  VARIANTS,
  variantOf,
  withKeyword,
  withKind,
  withVariant,
} from './kinds'
import { Limits } from './limits'
import { OptionsField } from './options-field'

interface Props {
  schema: Schema
  path: string
  isFixed: boolean
  onChange: (schema: Schema) => void
}

/** What a field is, how it is called and shown. Also that of the items of an array, which have no name. */
export function FieldBody({ schema, path, isFixed, onChange }: Props) {
  const { t } = useTranslation('admin')
  const id = useId()
  const kind = kindOf(schema)
  const text = (keyword: string) => {
    const value = schema[keyword]
    return typeof value === 'string' ? value : ''
  }
  const put = (keyword: string) => (value: unknown) => onChange(withKeyword(schema, keyword, value))
  return (
    <fieldset disabled={isFixed} className="grid min-w-0 gap-4">
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <Field
          id={`${id}-kind`}
          label={t('schema.type')}
          hint={kind ? undefined : t('schema.other_hint')}
        >
          <Select
            id={`${id}-kind`}
            value={kind ?? ''}
            onChange={(event) => onChange(withKind(schema, event.target.value as Kind))}
          >
            {!kind && <option value="">{t('field.other')}</option>}
            {KINDS.map((one) => (
              <option key={one} value={one}>
                {t(`field.${one}`)}
              </option>
            ))}
          </Select>
        </Field>
        {kind && (
          <Field id={`${id}-variant`} label={t('schema.variant')}>
            <Select
              id={`${id}-variant`}
              value={variantOf(schema, kind)}
              onChange={(event) => onChange(withVariant(schema, kind, event.target.value))}
            >
              {VARIANTS[kind].map((variant) => (
                <option key={variant} value={variant}>
                  {t(`variant.${variant}`)}
                </option>
              ))}
            </Select>
          </Field>
        )}
        <Field id={`${id}-label`} label={t('schema.label')}>
          <Input
            id={`${id}-label`}
            value={text('title')}
            onChange={(event) => put('title')(event.target.value)}
          />
        </Field>
        <Field id={`${id}-help`} label={t('schema.help')}>
          <Input
            id={`${id}-help`}
            value={text('description')}
            onChange={(event) => put('description')(event.target.value)}
          />
        </Field>
        {kind && <DefaultField key={kind} kind={kind} schema={schema} onChange={put('default')} />}
        {(kind === 'media' || kind === 'relation') && (
          <Field id={`${id}-target`} label={t(`schema.target_${kind}`)}>
            <Input
              id={`${id}-target`}
              value={text(TARGETS[kind])}
              onChange={(event) => put(TARGETS[kind])(event.target.value)}
            />
          </Field>
        )}
        {kind && <Limits kind={kind} schema={schema} onChange={onChange} />}
      </div>
      {kind === 'enum' && <OptionsField schema={schema} onChange={onChange} />}
      {kind === 'object' && (
        <Nested title={t('schema.members')}>
          <FieldList schema={schema} path={path} isFixed={isFixed} onChange={onChange} />
        </Nested>
      )}
      {kind === 'array' && isSchema(schema.items) && (
        <Nested title={t('schema.items')}>
          <FieldBody
            schema={schema.items}
            path={`${path}/items`}
            isFixed={isFixed}
            onChange={(items) => onChange({ ...schema, items })}
          />
        </Nested>
      )}
    </fieldset>
  )
}

const TARGETS = { media: 'x-accept', relation: 'x-entity-type' }

function Nested({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="grid min-w-0 gap-2 border-l-2 border-line pl-3">
      <p className="font-medium">{title}</p>
      {children}
    </div>
  )
}
