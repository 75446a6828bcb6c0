import { isJson } from '~/features/form/schema/json'

/** Whether a schema says nothing yet, so that a built-in's own may take its place. */
export function isUntold(schema: unknown): boolean {
  if (!isJson(schema)) return true
  const { type: _, properties, additionalProperties: __, ...rest } = schema
  const isEmpty = !isJson(properties) || Object.keys(properties).length === 0
  return isEmpty && Object.keys(rest).length === 0
}
