import { parse, stringify } from '~/api/exact'

export const END_STATES = ['success', 'error', 'timed_out', 'cancelled'] as const

/** What has to come of a test case: all that is given must hold. */
export interface Expectation {
  output?: unknown
  contains?: unknown
  status?: string | null
  error_code?: string | null
  jq?: string | null
}

/** An expectation as it is typed. What is empty is not looked at. */
export interface TypedExpectation {
  status: string
  error_code: string
  output: string
  contains: string
  jq: string
}

export type Part = keyof TypedExpectation

const JSON_PARTS = ['output', 'contains'] as const

export function typedOf(expect: Expectation): TypedExpectation {
  const json = (value: unknown) => (value == null ? '' : stringify(value, 2))
  return {
    status: expect.status ?? '',
    error_code: expect.error_code ?? '',
    output: json(expect.output),
    contains: json(expect.contains),
    jq: expect.jq ?? '',
  }
}

/** What was typed, and which parts of it are no JSON. */
export function readExpectation(typed: TypedExpectation): { expect: Expectation; broken: Part[] } {
  const expect: Expectation = {}
  const broken: Part[] = []
  if (typed.status) expect.status = typed.status
  if (typed.error_code.trim()) expect.error_code = typed.error_code.trim()
  if (typed.jq.trim()) expect.jq = typed.jq.trim()
  for (const part of JSON_PARTS) {
    if (typed[part].trim() === '') continue
    try {
      expect[part] = parse(typed[part])
    } catch {
      broken.push(part)
    }
  }
  return { expect, broken }
}

/** The parts that an expectation looks at, in the order of the form. Nothing given means that the call succeeds. */
export function partsOf(expect: Expectation): Part[] {
  const order: Part[] = ['status', 'error_code', 'output', 'contains', 'jq']
  const given = order.filter((part) => expect[part] != null)
  return given.length > 0 ? given : ['status']
}
