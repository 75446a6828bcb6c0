import { useState } from 'react'

import { parse as read, stringify } from '~/api/exact'
import { useTranslation } from '~/i18n'
import { Input, Select, Textarea } from '~/kit/field'
import { list, same, texts } from '../schema/json'
import { readNumber } from './digits'
import { NumberControl } from './number'
import { aria, type ControlProps, shown } from './props'

type Form = 'string' | 'number' | 'boolean' | 'json'

/** A value of one of several types: a control for each, and a list to pick the type from. */
export function AnyControl(props: ControlProps) {
  const { t } = useTranslation('form')
  const { id, schema, label, value, onChange, readOnly } = props
  const forms = formsOf(texts(schema['x-types']))
  const [picked, setPicked] = useState<Form>()
  const form = formOf(value, forms) ?? picked ?? forms[0] ?? 'json'
  const pick = (next: Form) => {
    setPicked(next)
    onChange(converted(value, next))
  }
  return (
    <div className="flex items-start gap-2">
      <div className="min-w-0 flex-1">
        <Part {...props} form={form} />
      </div>
      {forms.length > 1 && !readOnly && (
        <Select
          aria-label={t('type_of', { label })}
          className="w-auto shrink-0"
          id={`${id}-type`}
          value={form}
          onChange={(event) => pick(event.target.value as Form)}
        >
          {forms.map((name) => (
            <option key={name} value={name}>
              {t(`types.${name}`)}
            </option>
          ))}
        </Select>
      )}
    </div>
  )
}

function Part({ form, ...props }: ControlProps & { form: Form }) {
  const { t } = useTranslation('form')
  const { id, look, value, onChange, onBlur, readOnly } = props
  if (form === 'json') return <JsonControl {...props} />
  if (form === 'number') return <NumberControl {...props} />
  if (form === 'boolean') {
    return (
      <Select
        id={id}
        value={value === undefined ? '' : String(value)}
        disabled={readOnly}
        onChange={({ target }) =>
          onChange(target.value === '' ? undefined : target.value === 'true')
        }
        onBlur={onBlur}
        {...aria(props)}
      >
        <option value="">{t('none')}</option>
        <option value="true">{t('yes')}</option>
        <option value="false">{t('no')}</option>
      </Select>
    )
  }
  return (
    <Input
      id={id}
      value={shown(value)}
      readOnly={readOnly}
      placeholder={look.placeholder ?? shown(list(props.schema.examples)[0])}
      onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
      onBlur={onBlur}
      {...aria(props)}
    />
  )
}

/** A part of the value as JSON. What is not JSON yet stays in the field, and the field says so. */
export function JsonControl(props: ControlProps) {
  const { t } = useTranslation('form')
  const { id, value, onChange, onBlur, readOnly, describedBy } = props
  const [typed, setTyped] = useState<string>()
  const parsed = typed === undefined ? undefined : parse(typed)
  const fresh = parsed !== undefined && (parsed === BROKEN || same(parsed.value, value))
  const text = fresh && typed !== undefined ? typed : written(value)
  const broken = fresh && parsed === BROKEN
  return (
    <div className="grid gap-1">
      <Textarea
        id={id}
        rows={look(text)}
        spellCheck={false}
        className="font-mono text-xs"
        value={text}
        readOnly={readOnly}
        onChange={({ target }) => {
          setTyped(target.value)
          const next = parse(target.value)
          if (next !== BROKEN) onChange(next.value)
        }}
        onBlur={onBlur}
        {...aria(props)}
        aria-invalid={props.invalid || broken || undefined}
        aria-describedby={broken ? `${describedBy} ${id}-broken`.trim() : describedBy || undefined}
      />
      {broken && (
        <p id={`${id}-broken`} className="text-xs text-bad">
          {t('json.broken_part')}
        </p>
      )}
    </div>
  )
}

const BROKEN = Symbol('not JSON')

function parse(text: string): { value: unknown } | typeof BROKEN {
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: read(text) }
  } catch {
    return BROKEN
  }
}

function written(value: unknown): string {
  return value === undefined ? '' : stringify(value, 2)
}

function look(text: string): number {
  return Math.min(Math.max(text.split('\n').length, 2), 16)
}

function formsOf(types: string[]): Form[] {
  if (types.length === 0) return ['string', 'number', 'boolean', 'json']
  const forms = types.map((name): Form => {
    if (name === 'integer' || name === 'number') return 'number'
    return name === 'string' || name === 'boolean' ? name : 'json'
  })
  return [...new Set(forms)]
}

function formOf(value: unknown, forms: Form[]): Form | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'bigint') return formOf(Number(value), forms)
  const form = typeof value === 'object' ? 'json' : (typeof value as Form)
  return forms.includes(form) ? form : 'json'
}

/** What was typed, as the type that is wanted now; nothing where it cannot be read so. */
function converted(value: unknown, form: Form): unknown {
  if (value === undefined || value === null) return undefined
  if (form === 'string') return shown(value)
  if (form === 'number') {
    const number = readNumber(shown(value), false)
    return typeof number === 'string' ? undefined : number
  }
  return undefined
}
