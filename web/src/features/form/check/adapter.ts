import type { RJSFSchema, ValidatorType } from '@rjsf/utils'

import { isJson, type Json } from '../schema/json'
import { meets } from './checker'

/**
 * What the form library asks while it draws: which condition holds, which branch fits. The check of
 * the whole value is not its business; that is made against the schema as it was written.
 */
export const validator: ValidatorType<unknown, RJSFSchema> = {
  isValid(schema, value, root) {
    return meets(schema, defined(value) ?? {}, root?.$defs)
  },
  validateFormData() {
    return { errors: [], errorSchema: {} }
  },
  rawValidation() {
    return { errors: [] }
  },
}

/** A value without what is not there: JSON knows no undefined. */
export function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => defined(item) ?? null)
  if (!isJson(value)) return value
  const out: Json = {}
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) out[name] = defined(member)
  }
  return out
}
