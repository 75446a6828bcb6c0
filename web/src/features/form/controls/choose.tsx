import { useTranslation } from 'react-i18next'

import { cn } from '~/kit/cn'
import { Input, Select } from '~/kit/field'
import { humanize } from '../schema/humanize'
import { type Json, list, same } from '../schema/json'
import { Label } from './label'
import { aria, type ControlProps, shown } from './props'

export interface Option {
  /** What the page calls it; the value itself may be anything. */
  key: string
  value: unknown
  label: string
}

const WORDS = /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/

/** The choices of an `enum`, with the labels that the schema gives them. */
export function options(entries: unknown[], labels: unknown[]): Option[] {
  const keys = new Set<string>()
  return entries.map((value, index) => {
    let key = shown(value)
    if (keys.has(key)) key = `${key} (${index})`
    keys.add(key)
    const label = labels[index]
    return { key, value, label: typeof label === 'string' ? label : word(value) }
  })
}

/** Names that programs use become words; anything else stays as it was written. */
function word(value: unknown): string {
  return typeof value === 'string' && WORDS.test(value) ? humanize(value) : shown(value)
}

export function optionsOf(schema: Json): Option[] {
  return options(list(schema.enum), list(schema['x-enum-labels']))
}

export function SelectControl(props: ControlProps) {
  const { t } = useTranslation('form')
  const { id, schema, look, value, onChange, onBlur, readOnly, required } = props
  const all = optionsOf(schema)
  const chosen = all.find((option) => same(option.value, value))
  if (readOnly) return <Fixed {...props} text={chosen?.label ?? shown(value)} />
  return (
    <Select
      id={id}
      value={chosen?.key ?? ''}
      onChange={(event) => onChange(all.find(({ key }) => key === event.target.value)?.value)}
      onBlur={onBlur}
      {...aria(props)}
    >
      {(!chosen || !required) && (
        <option value="">{look.placeholder ?? t(required ? 'choose' : 'none')}</option>
      )}
      {all.map(({ key, label }) => (
        <option key={key} value={key}>
          {label}
        </option>
      ))}
    </Select>
  )
}

export function RadioControl(props: ControlProps) {
  const { id, schema, label, value, onChange, onBlur, readOnly } = props
  const { 'aria-required': required, ...rest } = aria(props)
  return (
    <div
      role="radiogroup"
      id={id}
      aria-label={label}
      aria-required={required}
      tabIndex={-1}
      className="flex flex-wrap gap-x-5 gap-y-1.5 py-1"
      {...rest}
    >
      {optionsOf(schema).map((option) => (
        <label key={option.key} className="flex min-h-6 items-center gap-2">
          <input
            type="radio"
            name={id}
            className="size-4 accent-accent"
            checked={same(option.value, value)}
            disabled={readOnly}
            onChange={() => onChange(option.value)}
            onBlur={onBlur}
          />
          {option.label}
        </label>
      ))}
    </div>
  )
}

/** Several of a few: a box for each. What was chosen keeps the order of the choices. */
export function CheckboxesControl(props: ControlProps & { entries: Option[] }) {
  const { id, entries, label, value, onChange, onBlur, readOnly } = props
  const chosen = list(value)
  const { 'aria-required': _, 'aria-invalid': invalid, ...rest } = aria(props)
  const toggle = (option: Option, on: boolean) => {
    const next = entries.filter(({ value }) =>
      value === option.value ? on : chosen.some((entry) => same(entry, value)),
    )
    onChange(next.map((entry) => entry.value))
  }
  return (
    <div
      role="group"
      id={id}
      aria-label={label}
      className="flex flex-wrap gap-x-5 gap-y-1.5 py-1"
      {...rest}
    >
      {entries.map((option) => (
        <label key={option.key} className="flex min-h-6 items-center gap-2">
          <input
            type="checkbox"
            className={cn('size-4 accent-accent', invalid && 'outline outline-bad')}
            aria-invalid={invalid}
            checked={chosen.some((entry) => same(entry, option.value))}
            disabled={readOnly}
            onChange={(event) => toggle(option, event.target.checked)}
            onBlur={onBlur}
          />
          {option.label}
        </label>
      ))}
    </div>
  )
}

export function BooleanControl(props: ControlProps) {
  const { id, label, value, onChange, onBlur, readOnly, required } = props
  return (
    <span className="flex min-h-6 items-start gap-2">
      <input
        id={id}
        type="checkbox"
        className="mt-0.5 size-4 shrink-0 accent-accent"
        checked={value === true}
        disabled={readOnly}
        onChange={(event) => onChange(event.target.checked)}
        onBlur={onBlur}
        {...aria({ ...props, required: false })}
      />
      <Label id={id} label={label} required={required && !readOnly} />
    </span>
  )
}

/** One fixed value: given where it is wanted, and to be ticked where it may be left out. */
export function ConstControl(props: ControlProps) {
  const { label, schema, required, value, onChange } = props
  const fixed = word(schema.const)
  if (required) return <Fixed {...props} text={fixed} />
  return (
    <BooleanControl
      {...props}
      label={`${label}: ${fixed}`}
      value={same(value, schema.const)}
      onChange={(on) => onChange(on === true ? schema.const : undefined)}
    />
  )
}

/** A value that cannot be changed, as text that can be selected. */
export function Fixed({ id, text, describedBy }: ControlProps & { text: string }) {
  return <Input id={id} readOnly value={text} aria-describedby={describedBy || undefined} />
}
