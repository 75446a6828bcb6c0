import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'
import { Input, Select } from '~/kit/field'
import { choiceInWords } from '../schema/humanize'
import { type Json, list, same } from '../schema/json'
import { variantOf } from './kind'
import { Label } from './label'
import { aria, shown as asText, type ControlProps } from './props'

export interface Option {
  /** What the page calls it; the value itself may be anything. */
  key: string
  value: unknown
  label: string
}

/** The choices of an `enum`, with the labels that the schema gives them. */
export function options(entries: unknown[], labels: unknown[]): Option[] {
  const keys = new Set<string>()
  return entries.map((value, index) => {
    let key = asText(value)
    if (keys.has(key)) key = `${key} (${index})`
    keys.add(key)
    const label = labels[index]
    return { key, value, label: typeof label === 'string' ? label : word(value) }
  })
}

function word(value: unknown): string {
  return typeof value === 'string' ? choiceInWords(value) : asText(value)
}

export function optionsOf(schema: Json): Option[] {
  return options(list(schema.enum), list(schema['x-enum-labels']))
}

export function SelectControl(props: ControlProps) {
  const { t } = useTranslation('form')
  const { id, schema, look, value, onChange, onBlur, readOnly, required } = props
  const all = optionsOf(schema)
  const chosen = all.find((option) => same(option.value, value))
  if (readOnly) return <Fixed {...props} text={chosen?.label ?? asText(value)} />
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

const SEGMENT =
  'relative border-line-strong px-3 not-first:border-l has-checked:bg-accent has-checked:text-accent-text has-focus-visible:outline-2 has-focus-visible:-outline-offset-4 has-focus-visible:outline-current'

/** Yes or no, and neither until somebody says so. */
export function YesNoControl(props: ControlProps) {
  const { t } = useTranslation('form')
  const entries = [
    { key: 'true', value: true, label: t('yes') },
    { key: 'false', value: false, label: t('no') },
  ]
  return <RadioControl {...props} entries={entries} />
}

/** One of a few: a button for each, under each other or joined to one bar. */
export function RadioControl(props: ControlProps & { entries?: Option[] }) {
  const { id, schema, look, label, value, onChange, onBlur, readOnly } = props
  const { entries = optionsOf(schema) } = props
  const isBar = variantOf(schema, look) === 'segmented'
  const { 'aria-required': required, ...rest } = aria(props)
  return (
    <div
      role="radiogroup"
      id={id}
      aria-label={label}
      aria-required={required}
      tabIndex={-1}
      className={
        isBar
          ? 'flex w-fit max-w-full flex-wrap overflow-clip rounded-md border border-line-strong'
          : 'flex flex-wrap gap-x-5 gap-y-1.5 py-1'
      }
      {...rest}
    >
      {entries.map((option) => (
        <label
          key={option.key}
          className={cn('flex items-center gap-2', isBar ? cn('min-h-9', SEGMENT) : 'min-h-6')}
        >
          <input
            type="radio"
            name={id}
            className={isBar ? 'sr-only' : 'size-4 accent-accent'}
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
export function CheckboxesControl(
  props: ControlProps & { entries: Option[]; shown?: (option: Option) => boolean },
) {
  const { id, entries, shown = () => true, label, value, onChange, onBlur, readOnly } = props
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
      {entries.filter(shown).map((option) => (
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

const SWITCH =
  "relative h-6 w-10 appearance-none rounded-full border border-line-strong bg-sunken before:absolute before:top-0.5 before:left-0.5 before:size-4.5 before:rounded-full before:bg-line-strong before:transition-transform before:content-[''] checked:border-accent checked:bg-accent checked:before:translate-x-4 checked:before:bg-accent-text disabled:opacity-60"

/** Yes or no: a switch, unless a box is wished for. */
export function BooleanControl(props: ControlProps) {
  const { schema, look } = props
  const isBox = variantOf(schema, look) === 'checkbox'
  return <Tick {...props} isSwitch={!isBox} />
}

function Tick({ isSwitch = false, ...props }: ControlProps & { isSwitch?: boolean }) {
  const { id, label, value, onChange, onBlur, readOnly, required } = props
  return (
    <span className={cn('flex min-h-6 gap-2', isSwitch ? 'items-center' : 'items-start')}>
      <input
        id={id}
        type="checkbox"
        role={isSwitch ? 'switch' : undefined}
        className={cn('shrink-0', isSwitch ? SWITCH : 'mt-0.5 size-4 accent-accent')}
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
    <Tick
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
