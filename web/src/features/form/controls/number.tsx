import { useState } from 'react'

import { useLocale } from '~/i18n'
import { Input } from '~/kit/field'
import { list } from '../schema/json'
import { readNumber, usesComma, writtenNumber } from './digits'
import { variantOf } from './kind'
import { aria, type ControlProps } from './props'
import { useUnit, WithUnit } from './text'

/**
 * A number as it is typed. The text is kept beside the value, because `1.0` and `1.` are on the way
 * to a number that reads otherwise once it is one.
 */
export function NumberControl(props: ControlProps) {
  const { id, schema, look, value, onChange, onBlur, readOnly } = props
  const [typed, setTyped] = useState<string>()
  const locale = useLocale()
  const comma = usesComma(locale)
  const isTyped = typed !== undefined && Object.is(readNumber(typed, comma), value ?? undefined)
  const given = list(schema.examples).find((entry) => typeof entry === 'number')
  const isMoney = variantOf(schema, look) === 'currency'
  const unit = useUnit(schema, look)
  const example = writtenNumber(given, comma) || (isMoney ? money(0, locale) : undefined)
  const box = (
    <WithUnit {...props} narrow>
      <Input
        id={id}
        // The browser's own field for numbers drops a comma, or not, by the language of the browser.
        type="text"
        inputMode={schema.type === 'integer' ? 'numeric' : 'decimal'}
        autoComplete="off"
        value={isTyped ? typed : writtenNumber(value, comma)}
        readOnly={readOnly}
        placeholder={look.placeholder ?? example}
        onChange={({ target }) => {
          setTyped(target.value)
          onChange(readNumber(target.value, comma))
        }}
        onBlur={onBlur}
        {...aria(props)}
      />
    </WithUnit>
  )
  if (!isMoney || typeof value !== 'number') return box
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
      {box}
      <output htmlFor={id} className="text-muted tabular-nums">
        {money(value, locale, unit)}
      </output>
    </div>
  )
}

/** An amount as it stands on a bill, so that a wrong zero is seen. */
function money(value: number, locale: string, currency = ''): string {
  const cents = { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  const isCode = /^[A-Z]{3}$/.test(currency)
  return new Intl.NumberFormat(locale, isCode ? { style: 'currency', currency } : cents).format(
    value,
  )
}

export function SliderControl(props: ControlProps) {
  const { id, schema, value, onChange, onBlur, readOnly } = props
  const whole = schema.type === 'integer'
  const comma = usesComma(useLocale())
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
          {value === undefined ? '–' : writtenNumber(value, comma)}
        </output>
      </div>
    </WithUnit>
  )
}

function bound(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
