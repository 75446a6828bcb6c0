import { ADDITIONAL_PROPERTY_FLAG, type FieldTemplateProps } from '@rjsf/utils'
import { X } from 'lucide-react'
import { useContext } from 'react'

import { useLocale, useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { Field, Input } from '~/kit/field'
import { kindOf, mustAnswer } from '../controls/kind'
import { Label } from '../controls/label'
import { hintOf, isBlank } from './hint'
import { Faults, faultId, Hint, hintId } from './notes'
import {
  ChoiceContext,
  ColumnsContext,
  LineContext,
  ListContext,
  lookOf,
  useScope,
  useShown,
} from './scope'

const WIDTHS = { full: '', half: 'sm:col-span-3', third: 'sm:col-span-2' }
const COLUMN = [
  'sm:col-start-1',
  'sm:col-start-2',
  'sm:col-start-3',
  'sm:col-start-4',
  'sm:col-start-5',
  'sm:col-start-6',
]

/** One field with its label, its hint and its faults. Groups bring their own headings. */
export function FieldTemplate(props: FieldTemplateProps) {
  const { t } = useTranslation('form')
  const locale = useLocale()
  const { id, schema, uiSchema, rawErrors, rawDescription, required, fieldPathId, children } = props
  const { schema: root } = useScope()
  const choice = useContext(ChoiceContext)
  const look = lookOf(uiSchema)
  const label = useLabel(props)
  const column = useColumn(fieldPathId.path)
  const usual = useContext(LineContext) ? 'third' : 'full'
  const place =
    column === undefined
      ? cn('col-span-6', WIDTHS[look.width ?? usual])
      : cn('sm:row-start-1', COLUMN[column])
  if (!useShown(fieldPathId.path, look)) return null

  const kind = kindOf(schema, look, root, mustAnswer(required ?? false, fieldPathId.path))
  if (kind === 'lazy') return <>{children}</>
  const wide = cn('grid min-w-0 content-start gap-1.5', place)
  const isGroup = kind === 'object' || kind === 'list' || kind === 'choice'
  const isItem = typeof fieldPathId.path.at(-1) === 'number'
  // The list of the choice has said it already.
  const isSaid = kind === 'const' && choice === fieldPathId.path.length - 1
  if (isSaid && required) return null
  const hasOwnLabel = kind === 'boolean' || (kind === 'const' && !required && !props.readonly)
  const hint = isGroup
    ? undefined
    : hintOf(schema, rawDescription, isBlank(props.formData), t, locale)
  const content = (
    <>
      {!isGroup && !hasOwnLabel && (fieldPathId.path.length > 0 || kind === 'yes-no') && (
        <Label
          id={id}
          label={label}
          required={required && !isItem}
          hidden={isItem || (column !== undefined && 'wide')}
        />
      )}
      {children}
      <Hint
        id={hintId(id)}
        text={hint}
        className={column === undefined ? undefined : 'sm:sr-only'}
      />
      {!(schema.oneOf || schema.anyOf) && <Faults id={faultId(id)} faults={rawErrors} />}
    </>
  )
  if (ADDITIONAL_PROPERTY_FLAG in schema) {
    return (
      <div className={wide}>
        <MapEntry {...props}>{content}</MapEntry>
      </div>
    )
  }
  return <div className={wide}>{content}</div>
}

/** In which column a field stands, if it stands in a row of a table. */
function useColumn(path: readonly (string | number)[]): number | undefined {
  const place = useContext(ColumnsContext)?.indexOf(String(path.at(-1))) ?? -1
  return place >= 0 && typeof path.at(-1) === 'string' ? place : undefined
}

function useLabel({ label, fieldPathId }: FieldTemplateProps): string {
  const { t } = useTranslation('form')
  const list = useContext(ListContext)
  const last = fieldPathId.path.at(-1)
  return typeof last === 'number' ? t('list.item_of', { list, number: last + 1 }) : label
}

/** An entry of a map: its name can be changed, and it can go. */
function MapEntry(props: FieldTemplateProps) {
  const { t } = useTranslation('form')
  const { id, label, readonly, onKeyRenameBlur, onRemoveProperty, children } = props
  return (
    <div className="flex min-w-0 items-start gap-3 rounded-lg border border-line p-3">
      <div className="grid min-w-0 flex-1 gap-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
        <Field id={`${id}-key`} label={t('map.name')}>
          <Input
            // A name that was refused or made unique is shown as it became.
            key={label}
            id={`${id}-key`}
            defaultValue={label}
            readOnly={readonly}
            onBlur={onKeyRenameBlur}
          />
        </Field>
        <div className="grid min-w-0 content-start gap-1.5">{children}</div>
      </div>
      {!readonly && (
        <Button
          size="icon"
          tone="quiet"
          aria-label={t('list.remove_named', { name: label })}
          onClick={onRemoveProperty}
        >
          <X aria-hidden />
        </Button>
      )}
    </div>
  )
}
