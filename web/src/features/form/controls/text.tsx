import { type ReactNode, useContext, useState } from 'react'

import { useLocale, useTranslation } from '~/i18n'
import { unitWord } from '~/i18n/units'
import { Button } from '~/kit/button'
import { Input, Textarea } from '~/kit/field'
import { lazyPart } from '~/kit/lazy-part'
import { plain } from '~/kit/plain'
import { SecretInput } from '~/kit/secret-input'
import { Skeleton } from '~/kit/states'
import { type Json, list, text } from '../schema/json'
import type { FieldLook } from '../schema/ui'
import { CurrencyContext } from './currency'
import { HeldText, isHeld } from './held-text'
import { variantOf } from './kind'
import { aria, type ControlProps, shown } from './props'
import { WayOut } from './way-out'

const Markdown = lazyPart(
  () => import('~/features/result/markdown'),
  (module) => module.default,
)

const TYPES: Record<string, string> = { email: 'email', uri: 'url', iri: 'url' }

export function TextControl(props: ControlProps) {
  const { id, schema, look, label, value, onChange, onBlur, readOnly } = props
  const phone = schema['x-toolwright-type'] === 'phone'
  const examples = list(schema.examples).filter((entry) => typeof entry === 'string')
  const listId = examples.length > 0 && !readOnly ? `${id}-examples` : undefined
  if (isHeld(value)) return <HeldText {...props} value={value} />
  return (
    <WithUnit {...props}>
      <Input
        id={id}
        type={phone ? 'tel' : (TYPES[text(schema.format) ?? ''] ?? 'text')}
        value={readOnly ? plain(shown(value)) : shown(value)}
        readOnly={readOnly}
        placeholder={look.placeholder ?? example(examples)}
        list={listId}
        onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
        onBlur={onBlur}
        {...aria(props)}
      />
      {listId && (
        <datalist id={listId}>
          {examples.map((entry) => (
            <option key={entry} value={entry} />
          ))}
        </datalist>
      )}
      <WayOut schema={schema} variant={variantOf(schema, look)} label={label} value={value} />
    </WithUnit>
  )
}

function example(examples: string[]): string | undefined {
  return examples[0]
}

export function TextareaControl(props: ControlProps) {
  const { id, schema, look, value, onChange, onBlur, readOnly } = props
  const variant = variantOf(schema, look)
  const code = variant === 'code'
  if (isHeld(value)) return <HeldText {...props} value={value} />
  const area = (
    <Textarea
      id={id}
      rows={look.rows ?? 4}
      value={readOnly ? plain(shown(value)) : shown(value)}
      readOnly={readOnly}
      placeholder={look.placeholder ?? text(list(schema.examples)[0])}
      spellCheck={code ? false : undefined}
      className={code ? 'font-mono text-xs' : undefined}
      onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
      onBlur={onBlur}
      {...aria(props)}
    />
  )
  return variant === 'markdown' ? <WithPreview {...props}>{area}</WithPreview> : area
}

/** Formatted text, which can be looked at as it will be read. */
function WithPreview({ id, label, value, children }: ControlProps & { children: ReactNode }) {
  const { t } = useTranslation('form')
  const [open, setOpen] = useState(false)
  return (
    <div className="grid min-w-0 gap-2">
      {children}
      <div>
        <Button
          size="small"
          tone="quiet"
          aria-expanded={open}
          aria-controls={`${id}-preview`}
          onClick={() => setOpen(!open)}
        >
          {t('preview')}
          <span className="sr-only">{t('preview_of', { label })}</span>
        </Button>
      </div>
      <div id={`${id}-preview`} hidden={!open} className="rounded-md border border-line p-3">
        {open && <Markdown fallback={<Skeleton className="h-10" />} text={shown(value)} />}
      </div>
    </div>
  )
}

export function PasswordControl(props: ControlProps) {
  const { id, look, label, value, onChange, onBlur, readOnly } = props
  return (
    <SecretInput
      id={id}
      name={label}
      value={shown(value)}
      readOnly={readOnly}
      placeholder={look.placeholder}
      onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
      onBlur={onBlur}
      {...aria(props)}
    />
  )
}

/** What a value is counted in, as it is written behind the value. An amount is in the currency that the form names. */
export function useUnit(schema: Json, look: FieldLook): string | undefined {
  const currency = useContext(CurrencyContext)
  const isPercent = variantOf(schema, look) === 'percent'
  const unit = look.unit ?? text(schema['x-unit']) ?? (isPercent ? 'percent' : undefined)
  const locale = useLocale()
  if (unit === 'currency') return currency
  return unit === 'percent' ? '%' : unit && unitWord(unit, locale)
}

/** A control with its unit behind it. What is short is not drawn long. */
export function WithUnit(props: ControlProps & { children: ReactNode; narrow?: boolean }) {
  const { id, schema, look, children, narrow } = props
  const unit = useUnit(schema, look)
  const wide = narrow ? 'w-full max-w-60 min-w-0' : 'min-w-0 flex-1'
  if (!unit && !narrow) return children
  // The control stays the same one when a unit comes or goes with the currency.
  return (
    <div className="flex min-w-0 items-center gap-2">
      <div className={wide}>{children}</div>
      {unit && (
        <span id={`${id}-unit`} className="max-w-1/2 shrink-0 text-xs break-words text-muted">
          {unit}
        </span>
      )}
    </div>
  )
}
