import { type ReactNode, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Field, Input, Select } from '~/kit/field'
import { idOf, useEditing } from './context'
import { NOT_TIME } from './fault-words'
import { described } from './parts'
import { readTime, TIME_UNITS, type TimeUnit, type TypedTime, timeWords, typedTime } from './time'

interface Props {
  /** Where it stands in the definition; what is no time yet is kept under it. */
  path: string
  label: string
  hint?: ReactNode
  /** Milliseconds, as the server has them. */
  value: number | null
  /** The unit while nothing is typed. */
  unit?: TimeUnit
  max: number
  onChange: (ms: number | null) => void
  fault?: string
  disabled?: boolean
}

/** A time as a number and a unit. The server counts milliseconds; nobody else does. */
export function DurationInput({
  path,
  label,
  hint,
  value,
  unit: usual = 'second',
  max,
  onChange,
  disabled,
  ...rest
}: Props) {
  const { t } = useTranslation('admin')
  const { unread, keepUnread } = useEditing()
  const id = idOf(path)
  // The unit stays as chosen: 60 seconds must not become 1 minute under somebody's hands.
  const [own, setOwn] = useState<TypedTime & { ms: number | null }>()
  const kept = unread[path]?.text
  const isOwn = own?.ms === value && (kept === own.text || readTime(own) === value)
  const read = value === null ? { text: '', unit: usual } : typedTime(value)
  const { text, unit } = isOwn ? own : { ...read, text: kept ?? read.text }
  const type = (typed: TypedTime) => {
    const ms = readTime(typed)
    keepUnread(path, ms === undefined ? { why: NOT_TIME, text: typed.text } : undefined)
    setOwn({ ...typed, ms: ms === undefined ? value : ms })
    if (ms !== undefined) onChange(ms)
  }
  const tooLong = value !== null && value > max ? timeWords(max) : undefined
  const fault =
    kept !== undefined
      ? t('fault.time')
      : tooLong
        ? t('fault.time_max', { time: tooLong })
        : rest.fault
  return (
    <Field id={id} label={label} hint={hint} fault={fault}>
      <div className="flex min-w-0 gap-2">
        <Input
          id={id}
          inputMode="decimal"
          autoComplete="off"
          className="min-w-0 flex-1"
          value={text}
          disabled={disabled}
          aria-invalid={fault !== undefined}
          aria-describedby={described(id, hint, fault)}
          onChange={({ target }) => type({ text: target.value, unit })}
        />
        <Select
          aria-label={t('time.unit_of', { label })}
          className="w-auto shrink-0"
          value={unit}
          disabled={disabled}
          onChange={({ target }) => type({ text, unit: target.value as TimeUnit })}
        >
          {Object.keys(TIME_UNITS).map((one) => (
            <option key={one} value={one}>
              {t(`time.${one}`)}
            </option>
          ))}
        </Select>
      </div>
    </Field>
  )
}
