import { useTranslation } from '~/i18n'
import { Input } from '~/kit/field'
import { aria, type ControlProps, shown } from './props'

export function DateControl(props: ControlProps) {
  return <Native {...props} type="date" toInput={(value) => value} toValue={(text) => text} />
}

/** The time of day in this browser's zone. The format wants an offset, so the one of today is added. */
export function TimeControl(props: ControlProps) {
  return (
    <Native
      {...props}
      type="time"
      toInput={(value) => /^\d\d:\d\d(?::\d\d)?/.exec(value)?.[0] ?? ''}
      toValue={(text) => withSeconds(text) + offset(new Date())}
    />
  )
}

export function DateTimeControl(props: ControlProps) {
  const { t } = useTranslation('form')
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <div className="grid gap-1">
      <Native
        {...props}
        type="datetime-local"
        toInput={local}
        toValue={(text) => withSeconds(text) + offset(new Date(text))}
      />
      <p id={`${props.id}-unit`} className="text-xs text-muted">
        {t('zone', { zone })}
      </p>
    </div>
  )
}

interface NativeProps extends ControlProps {
  type: 'date' | 'time' | 'datetime-local'
  /** The empty text where the browser's own control cannot show a value. */
  toInput: (value: string) => string
  toValue: (text: string) => string
}

function Native({ type, toInput, toValue, ...props }: NativeProps) {
  const { id, value, onChange, onBlur, readOnly } = props
  const text = shown(value)
  const input = toInput(text)
  // What the browser's control would show as empty must be seen, to be corrected.
  const odd = text !== '' && (input === '' || (type === 'date' && !/^\d{4}-\d\d-\d\d$/.test(text)))
  return (
    <Input
      id={id}
      className="max-w-60"
      type={odd ? 'text' : type}
      step={type === 'date' || odd ? undefined : 1}
      value={odd ? text : input}
      readOnly={readOnly}
      onChange={({ target }) => {
        if (target.value === '') onChange(undefined)
        else onChange(odd ? target.value : toValue(target.value))
      }}
      onBlur={onBlur}
      {...aria(props)}
    />
  )
}

function withSeconds(text: string): string {
  return /\d\d:\d\d:\d\d/.test(text) ? text : `${text}:00`
}

/** A moment as the browser's control wants it: local, without an offset. */
export function local(value: string): string {
  const moment = new Date(value)
  if (Number.isNaN(moment.getTime()) || !/\d[Tt ]\d/.test(value)) return ''
  const shifted = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 19)
}

export function offset(moment: Date): string {
  const minutes = -moment.getTimezoneOffset()
  if (minutes === 0) return 'Z'
  const two = (number: number) => String(number).padStart(2, '0')
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}
