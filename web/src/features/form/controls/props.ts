import { stringify } from '~/api/exact'
import type { Json } from '../schema/json'
import type { FieldLook } from '../schema/ui'

/** What every control is given. */
export interface ControlProps {
  id: string
  schema: Json
  look: FieldLook
  label: string
  value: unknown
  /** Undefined says that the field is empty. */
  onChange: (value: unknown) => void
  onBlur: () => void
  required: boolean
  readOnly: boolean
  invalid: boolean
  describedBy: string
}

/** What a control tells those who cannot see what stands around it. */
export function aria({ invalid, describedBy, required }: ControlProps) {
  return {
    'aria-invalid': invalid || undefined,
    'aria-describedby': describedBy || undefined,
    'aria-required': required || undefined,
  }
}

/** A value as one line of text. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? stringify(value) : String(value)
}
