import PlainArrayField from '@rjsf/core/lib/components/fields/ArrayField.js'
import type {
  ArrayFieldItemButtonsTemplateProps,
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  FieldProps,
} from '@rjsf/utils'
import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'
import { type ComponentType, type MouseEvent, useContext, useEffect, useRef } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { kindOf } from '../controls/kind'
import { Star } from '../controls/label'
import { list } from '../schema/json'
import { layers } from '../schema/layers'
import { written } from '../schema/pointer'
import { LeafField } from './leaf-field'
import { faultId, Hint } from './notes'
import { afterwards, ColumnsContext, focus, ListContext, lookOf, useScope } from './scope'
import { type Column, columnsOf, rowOf } from './table'

const Plain = PlainArrayField as ComponentType<FieldProps>

export function ListField(props: FieldProps) {
  const { schema, uiSchema, formData } = props
  const { schema: root } = useScope()
  const kind = kindOf(schema, lookOf(uiSchema), root)
  const isOdd = formData !== undefined && formData !== null && !Array.isArray(formData)
  if (kind !== 'list' || isOdd) return <LeafField {...props} />
  return Array.isArray(schema.items) ? <Tuple {...props} /> : <Plain {...props} />
}

/** A list whose places have names shows all of them, and is there once one of them is filled. */
function Tuple(props: FieldProps) {
  const { schema, formData, fieldPathId, onChange } = props
  const given = list(formData)
  const places = list(schema.items)
  const shown = given.length < places.length ? places.map((_, index) => given[index]) : given
  // The library keeps an item as it is while the item itself does not change, with what it was given then.
  const latest = useRef(shown)
  useEffect(() => {
    latest.current = shown
  })
  return (
    <Plain
      {...props}
      formData={shown}
      onChange={(value, path) => {
        const next = written(latest.current, path.slice(fieldPathId.path.length), value)
        const isEmpty = list(next).every((entry) => entry === undefined || entry === null)
        onChange(isEmpty ? undefined : next, fieldPathId.path)
      }}
    />
  )
}

export function ListTemplate(props: ArrayFieldTemplateProps) {
  const { t } = useTranslation('form')
  const { title, schema, uiSchema, items, canAdd, onAddClick, fieldPathId, readonly, required } =
    props
  const description = (uiSchema?.['ui:description'] as string | undefined) ?? schema.description
  const id = fieldPathId.$id
  const faulty = (props.rawErrors ?? []).length > 0
  const { schema: root } = useScope()
  const columns = columnsOf(schema, uiSchema, lookOf(uiSchema), root)
  const add = (event: MouseEvent) => {
    onAddClick(event)
    afterwards(() => firstControl(`${id}-item-${items.length}`)?.focus())
  }
  return (
    <fieldset
      id={id}
      className="grid min-w-0 gap-3"
      tabIndex={-1}
      aria-invalid={faulty || undefined}
      aria-describedby={faulty ? faultId(id) : undefined}
    >
      <legend className="mb-1.5 max-w-full font-medium break-words">
        {title}
        {required && !readonly && <Star />}
      </legend>
      <Hint text={description} className="-mt-2" />
      {columns && items.length > 0 && <TableHead columns={columns} hasButtons={!readonly} />}
      <ListContext value={title}>
        <ColumnsContext value={columns?.map(({ name }) => name)}>
          {items.length > 0 && <ol className="grid min-w-0 gap-3">{items}</ol>}
        </ColumnsContext>
      </ListContext>
      {items.length === 0 && readonly && <p className="text-muted">{t('nothing')}</p>}
      {canAdd && !readonly && (
        <div>
          <Button id={`${id}-add`} size="small" onClick={add}>
            <Plus aria-hidden />
            {t('list.add')}
            <span className="sr-only">{t('list.add_to', { list: title })}</span>
          </Button>
        </div>
      )}
    </fieldset>
  )
}

/** The names of the columns, for the eye: each control has its own name. */
function TableHead({ columns, hasButtons }: { columns: Column[]; hasButtons: boolean }) {
  return (
    <div aria-hidden className="hidden gap-2 sm:flex">
      <div className={cn('flex-1', rowOf(columns))}>
        {columns.map(({ name, title, description }) => (
          <div key={name} className="min-w-0 text-xs">
            <span className="font-medium break-words">{title}</span>
            <Hint text={description} />
          </div>
        ))}
      </div>
      {hasButtons && <div className={BUTTONS} />}
    </div>
  )
}

/** As wide in every row, so that the columns stand under their names. */
const BUTTONS = 'shrink-0 sm:flex sm:w-30 sm:justify-end'

export function ItemTemplate(props: ArrayFieldItemTemplateProps) {
  const { t } = useTranslation('form')
  const { children, buttonsProps, index, schema, hasToolbar } = props
  const { schema: root } = useScope()
  const title = useContext(ListContext)
  const all = layers(root, [schema], true)
  const isRow = useContext(ColumnsContext) !== undefined
  const isLarge =
    !isRow && all.some((layer) => layer.properties || layer.type === 'object' || layer.oneOf)
  const own = all.find((layer) => typeof layer.title === 'string')?.title as string | undefined
  const buttons = hasToolbar && <ItemButtons {...buttonsProps} />
  return (
    <li
      id={buttonsProps.fieldPathId.$id.replace(/\.(\d+)$/, '-item-$1')}
      className={cn(
        'min-w-0',
        isLarge ? 'rounded-lg border border-line p-3' : 'flex items-start gap-2',
      )}
    >
      {isLarge && (
        <div className="mb-2 flex items-center justify-between gap-2">
          <span aria-hidden className="min-w-0 truncate text-xs font-medium text-muted">
            {t('list.item_of', { list: own ?? title, number: index + 1 })}
          </span>
          {buttons}
        </div>
      )}
      <div className="min-w-0 flex-1">{children}</div>
      {!isLarge && (isRow ? buttons && <div className={BUTTONS}>{buttons}</div> : buttons)}
    </li>
  )
}

export function ItemButtons(props: ArrayFieldItemButtonsTemplateProps) {
  const { t } = useTranslation('form')
  const { fieldPathId, index, totalItems, hasMoveUp, hasMoveDown, hasRemove, readonly } = props
  const around = fieldPathId.$id.replace(/\.\d+$/, '')
  const id = (place: number, act: string) => `${around}.${place}-${act}`
  if (readonly) return null
  // What was clicked moves with its item; the keyboard stays on it.
  const move =
    (act: (event: MouseEvent) => void, to: number, name: string, other: string) =>
    (event: MouseEvent) => {
      act(event)
      afterwards(() => focus(id(to, name)) || focus(id(to, other)))
    }
  const remove = (event: MouseEvent) => {
    props.onRemoveItem(event)
    const next = Math.min(index, totalItems - 2)
    afterwards(() => focus(id(next, 'remove')) || focus(`${around}-add`))
  }
  const number = index + 1
  return (
    <div className="flex shrink-0 gap-0.5">
      {(hasMoveUp || hasMoveDown) && (
        <>
          <Button
            id={id(index, 'up')}
            size="icon"
            tone="quiet"
            disabled={!hasMoveUp}
            aria-label={t('list.up', { number })}
            onClick={move(props.onMoveUpItem, index - 1, 'up', 'down')}
          >
            <ArrowUp aria-hidden />
          </Button>
          <Button
            id={id(index, 'down')}
            size="icon"
            tone="quiet"
            disabled={!hasMoveDown}
            aria-label={t('list.down', { number })}
            onClick={move(props.onMoveDownItem, index + 1, 'down', 'up')}
          >
            <ArrowDown aria-hidden />
          </Button>
        </>
      )}
      {hasRemove && (
        <Button
          id={id(index, 'remove')}
          size="icon"
          tone="quiet"
          aria-label={t('list.remove_item', { number })}
          onClick={remove}
        >
          <X aria-hidden />
        </Button>
      )}
    </div>
  )
}

function firstControl(id: string): HTMLElement | null {
  return document.getElementById(id)?.querySelector<HTMLElement>('input,select,textarea') ?? null
}
