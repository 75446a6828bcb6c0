import type { RJSFSchema, ValidatorType } from '@rjsf/utils'

import { isJson } from '../schema/json'
import { Checker, meets } from './checker'

/**
 * The checker as the form library knows one. While it draws it asks which condition holds and which
 * branch fits. The check of the whole value is made elsewhere, against the schema as it was written
 * and not as it is drawn; so there are no errors for the library to place.
 */
export const validator: ValidatorType<unknown, RJSFSchema> = {
  isValid(schema, value, root) {
    return meets(schema, defined(value) ?? {}, root?.$defs)
  },
  validateFormData() {
    return { errors: [], errorSchema: {} }
  },
  rawValidation<Result>(schema: RJSFSchema, value?: unknown) {
    return { errors: new Checker(schema).misses(value) as Result[] }
  },
}

/** A value without what is not there: JSON knows no undefined. */
export function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => defined(item) ?? null)
  if (!isJson(value)) return value
  const there = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(there.map(([name, member]) => [name, defined(member)]))
}
