import type { FieldProps } from '@rjsf/utils'
import { useContext } from 'react'

import { useLocale, useTranslation } from '~/i18n'
import { Control } from '../controls/control'
import { kindOf, mustAnswer } from '../controls/kind'
import { useUnit } from '../controls/text'
import type { Json } from '../schema/json'
import { hintOf, isBlank } from './hint'
import { LazyPart } from './lazy-part'
import { faultId, hintId } from './notes'
import { ListContext, lookOf, useScope } from './scope'

/** What is no list and no object: a control, or a part that is still folded. */
export function LeafField(props: FieldProps) {
  return props.schema['x-lazy'] ? <LazyPart {...props} /> : <Leaf {...props} />
}

function Leaf(props: FieldProps) {
  const { t } = useTranslation('form')
  const locale = useLocale()
  const { schema, uiSchema, formData, fieldPathId, required = false, readonly = false } = props
  const { rawErrors = [], name, onChange, onBlur } = props
  const { schema: root } = useScope()
  const list = useContext(ListContext)
  const id = fieldPathId.$id
  const look = lookOf(uiSchema)
  const kind = kindOf(schema, look, root, mustAnswer(required, fieldPathId.path))
  const unit = useUnit(schema, look)
  const description = (uiSchema?.['ui:description'] as string | undefined) ?? schema.description
  const last = fieldPathId.path.at(-1)
  const own = (uiSchema?.['ui:title'] as string | undefined) ?? schema.title ?? name
  const label = typeof last === 'number' ? t('list.item_of', { list, number: last + 1 }) : own
  const notes = [
    (unit ?? kind === 'date-time') && `${id}-unit`,
    hintOf(schema, description, isBlank(formData), t, locale) && hintId(id),
    rawErrors.length > 0 && faultId(id),
  ]
  return (
    <Control
      kind={kind}
      root={root}
      id={id}
      schema={schema}
      look={look}
      label={label}
      value={formData}
      onChange={(value) => {
        onChange(value === undefined ? emptied(schema, required) : value, fieldPathId.path)
      }}
      onBlur={() => onBlur(id, formData)}
      required={required}
      readOnly={readonly}
      invalid={rawErrors.length > 0}
      describedBy={notes.filter((note) => note).join(' ')}
    />
  )
}

/**
 * What an emptied field holds. Mostly nothing; but where the server would put its default back in,
 * the emptiness has to be said.
 */
export function emptied(schema: Json, required: boolean): unknown {
  const isNullable = schema['x-nullable'] === true
  if (isNullable && (required || schema['x-default'] !== undefined)) return null
  const isText = schema.type === 'string' && schema.enum === undefined
  const bare = !schema.minLength && schema.pattern === undefined && schema.format === undefined
  return isText && bare && schema['x-default'] !== undefined && schema['x-default'] !== ''
    ? ''
    : undefined
}
