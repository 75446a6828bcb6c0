import { ChevronRight } from 'lucide-react'
import { useId } from 'react'

import { type Json, text } from '~/features/form/schema/json'
import { steps } from '~/features/form/schema/pointer'
import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { cn } from '~/kit/cn'
import { Field, Input, Select } from '~/kit/field'
import { Switch } from '~/kit/switch'
import { idOf, useEditing } from '../editor/context'
import { MoveButtons } from '../move-buttons'
import { kindOf, VARIANTS } from '../schema/kinds'
import type { FormRow, FormSection } from './form-layout'

interface Props {
  row: FormRow
  index: number
  count: number
  sections: FormSection[]
  isFixed: boolean
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
  onSay: (words: Json) => void
  onMove: (by: -1 | 1) => void
  onDrop: () => void
}

const WIDTHS = ['full', 'half', 'third'] as const

/** One field of the form: where it stands, how wide it is, and how it is shown. */
export function FieldRow(props: Props) {
  const { row, index, count, sections, isFixed, isOpen, onOpen, onMove, onDrop } = props
  const { t } = useTranslation('admin')
  const { faults } = useEditing()
  const place = `/form_spec/fields/${index}`
  const here = faults.filter(({ path }) => path === place || path.startsWith(`${place}/`))
  const name = steps(row.path).join(' › ')
  const section = sections.find(({ id }) => id === row.said.section)
  const width = text(row.said.width)
  const bodyId = useId()
  return (
    <div
      className={cn('min-w-0 rounded-md border border-line', { 'border-bad': here.length > 0 })}
      onKeyDown={(event) => {
        if (!event.altKey || isFixed) return
        if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
        event.preventDefault()
        onMove(event.key === 'ArrowUp' ? -1 : 1)
      }}
    >
      <div className="flex items-center gap-1 p-1.5">
        <button
          type="button"
          id={idOf(place)}
          aria-expanded={isOpen}
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
            {section && <Badge>{text(section.title) || section.id}</Badge>}
            {width && <Badge>{t(`layout.width_${width}`, { defaultValue: width })}</Badge>}
            {row.said.hidden === true && <Badge>{t('layout.hidden')}</Badge>}
            {!row.schema && <Badge tone="bad">{t('layout.gone')}</Badge>}
          </span>
        </button>
        {!isFixed && (
          <MoveButtons
            name={name}
            isFirst={index === 0}
            isLast={index === count - 1}
            onMove={onMove}
            onRemove={row.schema && steps(row.path).length === 1 ? undefined : onDrop}
            hasKeys
          />
        )}
      </div>
      {here.length > 0 && (
        <div className="grid gap-1 px-3 pb-2 text-xs text-bad">
          {here.map(({ path, message }) => (
            <p key={path + message}>
              <code>{path.slice(place.length + 1)}</code> {message}
            </p>
          ))}
        </div>
      )}
      {isOpen && (
        <div id={bodyId} className="border-t border-line p-3">
          <Looks {...props} />
        </div>
      )}
    </div>
  )
}

function Looks({ row, sections, isFixed, onSay }: Props) {
  const { t } = useTranslation('admin')
  const id = useId()
  const { said, schema } = row
  const kind = schema && kindOf(schema)
  const word = (name: string) => text(said[name]) ?? ''
  const hint = (keyword: string) => (schema ? text(schema[keyword]) : undefined)
  // What somebody wrote as JSON and this list does not know stays a choice.
  const withOwn = (known: readonly string[], own: string) =>
    own === '' || known.includes(own) ? known : [own, ...known]
  return (
    <fieldset disabled={isFixed} className="grid min-w-0 items-start gap-4 sm:grid-cols-2">
      <Field id={`${id}-section`} label={t('layout.section')}>
        <Select
          id={`${id}-section`}
          value={word('section')}
          onChange={({ target }) => onSay({ section: target.value })}
        >
          <option value="">{t('layout.no_section')}</option>
          {sections.map((section) => (
            <option key={section.id} value={section.id}>
              {text(section.title) || section.id}
            </option>
          ))}
        </Select>
      </Field>
      <Field id={`${id}-width`} label={t('layout.width')}>
        <Select
          id={`${id}-width`}
          value={word('width')}
          onChange={({ target }) => onSay({ width: target.value })}
        >
          <option value="">{t('layout.usual')}</option>
          {withOwn(WIDTHS, word('width')).map((width) => (
            <option key={width} value={width}>
              {t(`layout.width_${width}`, { defaultValue: width })}
            </option>
          ))}
        </Select>
      </Field>
      {kind && (
        <Field id={`${id}-widget`} label={t('schema.variant')}>
          <Select
            id={`${id}-widget`}
            value={word('variant')}
            onChange={({ target }) => onSay({ variant: target.value })}
          >
            <option value="">{t('layout.by_schema')}</option>
            {withOwn(VARIANTS[kind], word('variant')).map((variant) => (
              <option key={variant} value={variant}>
                {t(`variant.${variant}`, { defaultValue: variant })}
              </option>
            ))}
          </Select>
        </Field>
      )}
      {(['label', 'help', 'placeholder', 'unit'] as const).map((name) => (
        <Field key={name} id={`${id}-${name}`} label={t(`layout.${name}`)}>
          <Input
            id={`${id}-${name}`}
            value={word(name)}
            placeholder={{ label: hint('title'), help: hint('description') }[name as 'label']}
            onChange={({ target }) => onSay({ [name]: target.value })}
          />
        </Field>
      ))}
      <label className="flex min-h-9 items-center gap-2 font-medium">
        <Switch
          checked={said.hidden === true}
          disabled={isFixed}
          aria-label={t('layout.hide')}
          onChange={(hidden) => onSay({ hidden: hidden || undefined })}
        />
        {t('layout.hide')}
      </label>
    </fieldset>
  )
}
