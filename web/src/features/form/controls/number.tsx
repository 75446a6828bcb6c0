import { useState } from 'react'

import { Input } from '~/kit/field'
import { list } from '../schema/json'
import { aria, type ControlProps, shown } from './props'
import { WithUnit } from './text'

/** What stands for digits that are no number: the check then says that a number is wanted. */
const NO_NUMBER = 'not a number'

/**
 * A number as it is typed. The text is kept beside the value, because `1.0` and `1.` are on the way
 * to a number that reads otherwise once it is one.
 */
export function NumberControl(props: ControlProps) {
  const { id, schema, look, value, onChange, onBlur, readOnly } = props
  const [typed, setTyped] = useState<string>()
  const kept =
    typed !== undefined && Object.is(read(typed), value ?? undefined) ? typed : shown(value)
  const change = (input: HTMLInputElement) => {
    if (input.validity.badInput) return onChange(NO_NUMBER)
    setTyped(input.value)
    onChange(read(input.value))
  }
  const given = list(schema.examples).find((entry) => typeof entry === 'number')
  return (
    <WithUnit {...props} narrow>
      <Input
        id={id}
        type="number"
        inputMode={schema.type === 'integer' ? 'numeric' : 'decimal'}
        value={kept === NO_NUMBER ? '' : kept}
        min={bound(schema.minimum)}
        max={bound(schema.maximum)}
        step={bound(schema.multipleOf) ?? (schema.type === 'integer' ? 1 : 'any')}
        readOnly={readOnly}
        placeholder={look.placeholder ?? (given === undefined ? undefined : String(given))}
        onChange={(event) => change(event.target)}
        // A wheel that scrolls the page must not change what was typed.
        onWheel={(event) => event.currentTarget.blur()}
        onBlur={onBlur}
        {...aria(props)}
      />
    </WithUnit>
  )
}

export function SliderControl(props: ControlProps) {
  const { id, schema, value, onChange, onBlur, readOnly } = props
  const whole = schema.type === 'integer'
  return (
    <WithUnit {...props}>
      <div className="flex h-9 items-center gap-3">
        <input
          id={id}
          type="range"
          className="min-w-0 flex-1 accent-accent"
          min={bound(schema.minimum)}
          max={bound(schema.maximum)}
          step={bound(schema.multipleOf) ?? (whole ? 1 : 'any')}
          value={typeof value === 'number' ? value : (bound(schema.minimum) ?? 0)}
          disabled={readOnly}
          onChange={(event) => onChange(event.target.valueAsNumber)}
          onBlur={onBlur}
          {...aria(props)}
        />
        <output htmlFor={id} className="w-12 text-right tabular-nums">
          {value === undefined ? '–' : shown(value)}
        </output>
      </div>
    </WithUnit>
  )
}

/** The number that a text is. One with more digits than a number here can hold stays a text. */
function read(text: string): unknown {
  if (text.trim() === '') return undefined
  const number = Number(text)
  if (!Number.isFinite(number)) return NO_NUMBER
  return /^[+-]?\d+$/.test(text) && !Number.isSafeInteger(number) ? text : number
}

function bound(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
