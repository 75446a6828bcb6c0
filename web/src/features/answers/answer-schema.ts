import { isObject } from '~/features/result/json'

const ANYTHING = {}
const EMPTY = {}

/** The schema of an answer: without one of the tool anything goes, as JSON. */
export function answerSchema(output: unknown): unknown {
  return output == null ? ANYTHING : output
}

/** What a form for an answer starts with. Only of an object is it known. */
export function firstAnswer(schema: unknown): unknown {
  if (!isObject(schema)) return EMPTY
  const { type } = schema
  return type === undefined || type === 'object' ? EMPTY : undefined
}
