import { ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { cn } from '~/kit/cn'
import { Field, Input } from '~/kit/field'
import { Switch } from '~/kit/switch'
import { idOf, useEditing } from '../editor/context'
import { MoveButtons } from '../move-buttons'
import { FieldBody } from './field-body'
import { kindOf, type Schema } from './kinds'
import { faultOfName, type Member } from './members'

interface Props {
  object: Schema
  member: Member
  path: string
  isOpen: boolean
  isFirst: boolean
  isLast: boolean
  isFixed: boolean
  onOpen: (isOpen: boolean) => void
  onRename: (name: string) => void
  onRequired: (required: boolean) => void
  onChange: (schema: Schema) => void
  onMove: (by: -1 | 1) => void
  onRemove: () => void
}

export function FieldCard(props: Props) {
  const { t } = useTranslation('admin')
  const { member, path, isOpen, isFixed, onOpen } = props
  const { name, schema, required } = member
  const { faults } = useEditing()
  const here = faults.filter((fault) => fault.path === path || fault.path.startsWith(`${path}/`))
  const kind = kindOf(schema)
  const bodyId = useId()
  return (
    <div className={cn('min-w-0 rounded-md border border-line', { 'border-bad': here.length > 0 })}>
      <div className="flex items-center gap-1 p-1.5">
        <button
          type="button"
          id={idOf(path)}
          aria-expanded={isOpen}
          aria-describedby={here.length > 0 ? `${bodyId}-faults` : undefined}
          aria-controls={bodyId}
          className="flex min-w-0 flex-1 items-start gap-2 rounded-sm px-1.5 py-1 text-left"
          onClick={() => onOpen(!isOpen)}
        >
          <ChevronRight
            aria-hidden
            className={cn('mt-0.5 size-4 shrink-0 text-muted', { 'rotate-90': isOpen })}
          />
          <span className="flex min-w-0 flex-wrap items-center gap-2">
            <code className="min-w-0 font-medium break-all">{name}</code>
            <Badge>{kind ? t(`field.${kind}`) : t('field.other')}</Badge>
            {required && <Badge tone="accent">{t('schema.required')}</Badge>}
            {typeof schema.title === 'string' && (
              <span className="min-w-0 truncate text-muted">{schema.title}</span>
            )}
          </span>
        </button>
        {!isFixed && <MoveButtons {...props} name={name} />}
      </div>
      <div id={`${bodyId}-faults`} className="grid gap-1 px-3 pb-2 text-xs text-bad empty:hidden">
        {here.map((fault) => (
          <p key={fault.path + fault.message}>
            <code>{fault.path.slice(path.length + 1)}</code> {fault.message}
          </p>
        ))}
      </div>
      {isOpen && (
        <div id={bodyId} className="grid min-w-0 gap-4 border-t border-line p-3">
          <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_auto] sm:items-end">
            <Name {...props} />
            <label className="flex h-9 items-center gap-2 font-medium">
              <Switch
                checked={required}
                disabled={isFixed}
                aria-label={t('schema.required')}
                onChange={props.onRequired}
              />
              {t('schema.required')}
            </label>
          </div>
          <FieldBody schema={schema} path={path} isFixed={isFixed} onChange={props.onChange} />
        </div>
      )}
    </div>
  )
}

/** The name of a property. What cannot be a name yet stays in the box, and the old one in the schema. */
function Name({ object, member, isFixed, onRename }: Props) {
  const { t } = useTranslation('admin')
  const id = useId()
  const [typed, setTyped] = useState<string>()
  const text = typed ?? member.name
  const fault = faultOfName(object, member.name, text)
  return (
    <Field id={id} label={t('schema.name')} fault={fault && t(`schema.name_${fault}`)}>
      <Input
        id={id}
        className="font-mono"
        value={text}
        disabled={isFixed}
        aria-invalid={fault !== undefined}
        aria-describedby={fault ? `${id}-fault` : undefined}
        onChange={({ target: { value } }) => {
          const isName = faultOfName(object, member.name, value) === undefined
          setTyped(isName ? undefined : value)
          if (isName) onRename(value)
        }}
      />
    </Field>
  )
}
