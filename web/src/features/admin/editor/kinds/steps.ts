import { isJson, list, text } from '~/features/form/schema/json'
import { type KnownField, knownFields } from './known-fields'

/** A step of a composition. Anything else that somebody wrote into one stays there. */
export interface ChainStep extends Record<string, unknown> {
  id?: unknown
  tool?: unknown
}

export const ON_ERROR = ['stop', 'continue', 'fallback'] as const

export function stepsOf(spec: unknown): ChainStep[] {
  return isJson(spec) ? list(spec.steps).map((step) => (isJson(step) ? step : {})) : []
}

/** The slug of the tool that a step calls, as far as it is typed. */
export function toolOfStep({ tool }: ChainStep): string {
  return text(tool) ?? ''
}

/** A step to begin with, under an id that no other one has. */
export function newStep(steps: readonly ChainStep[]): ChainStep {
  const taken = new Set(steps.map(({ id }) => id))
  let number = steps.length + 1
  while (taken.has(`step_${number}`)) number++
  return { id: `step_${number}`, tool: '', input: {} }
}

/** The order after one has moved, as the numbers that the steps had before. */
export function orderMoved(count: number, from: number, to: number): number[] {
  const order = Array.from({ length: count }, (_, index) => index)
  if (from < 0 || to < 0 || from >= count || to >= count) return order
  return order.toSpliced(from, 1).toSpliced(to, 0, from)
}

/** The order without one. */
export function orderWithout(count: number, index: number): number[] {
  return Array.from({ length: count }, (_, index) => index).toSpliced(index, 1)
}

export function inOrder<T>(items: readonly T[], order: readonly number[]): T[] {
  return order.flatMap((index) => (index in items ? [items[index] as T] : []))
}

/** What to do when a step fails. Only `fallback` has a value beside it. */
export function withOnError(step: ChainStep, word: string): ChainStep {
  const { on_error: _, fallback = null, ...rest } = step
  if (word === 'stop') return rest
  return word === 'fallback' ? { ...rest, on_error: word, fallback } : { ...rest, on_error: word }
}

/** The expressions that a step, or the output behind all steps, can use. */
export function expressionsAt(inputs: readonly string[], before: readonly ChainStep[]): string[] {
  const outputs = before.flatMap(({ id }) => (text(id) ? [`{{ steps.${text(id)}.output }}`] : []))
  return [...inputs.map(expressionOf), ...outputs]
}

/** Something that a template can say, and what it was the last time. */
export interface Expression {
  text: string
  example?: unknown
}

/** Where values come from that a template can say: the tool's own inputs, or a step before. */
export interface Source {
  /** The id of the step; none for the inputs. */
  step?: string
  expressions: Expression[]
}

/** What is known of an output: its schema, and what it was the last time. */
export interface KnownOutput {
  schema?: unknown
  example?: unknown
}

/** What a step, or the output behind all steps, can use, with each field that is known, however deep it is. */
export function sourcesAt(
  input: unknown,
  before: readonly ChainStep[],
  outputOf: (step: ChainStep) => KnownOutput,
): Source[] {
  const steps = before.flatMap((step): Source[] => {
    const id = text(step.id)
    if (!id) return []
    const { schema, example } = outputOf(step)
    const whole = `steps.${id}.output`
    const fields = pathsOf(whole, knownFields(schema, example))
    return [{ step: id, expressions: [{ text: `{{ ${whole} }}` }, ...fields] }]
  })
  const own = pathsOf('input', knownFields(input))
  return own.length > 0 ? [{ expressions: own }, ...steps] : steps
}

/** The expressions for fields of a value, as templates read them. */
export function pathsOf(whole: string, fields: readonly KnownField[]): Expression[] {
  return fields.map(({ path, example }) => {
    const way = path.map((step) => (typeof step === 'number' ? `[${step}]` : below(step))).join('')
    const expression = { text: `{{ ${whole}${way} }}` }
    return example === undefined ? expression : { ...expression, example }
  })
}

/** How a template says an input. */
export function expressionOf(name: string): string {
  return `{{ input${below(name)} }}`
}

// Names that are no words are told in brackets.
function below(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
}

/** The names of what a tool is given, or gives. */
export function inputNames(schema: unknown): string[] {
  return isJson(schema) && isJson(schema.properties) ? Object.keys(schema.properties) : []
}
