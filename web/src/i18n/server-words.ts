import { useMemo } from 'react'

import { type Fault, Problem } from '~/api/problem'
import { type TFunction, t, useTranslation } from '~/i18n'

// What the server says, in the language of the page. It is made of codes and of the values that come with them, never
// of the server's own sentences: those may be improved at any time. A code without a text here shows them.

type Params = Record<string, unknown>

/** The codes whose own sentence says more than the code does, unless a reason tells it apart. */
const SAYS_MORE = new Set([
  'BAD_REQUEST',
  'CONFLICT',
  'FOREIGN_HOST',
  'INVALID_JSON',
  'INVALID_PARAMS',
  'MODEL_NOT_CONFIGURED',
  'NOT_PERMITTED',
  'RATE_LIMITED',
  'UNSUPPORTED_MEDIA_TYPE',
])

/** What is wrong at a place. A fault without a code is this page's own, and told already. */
export function sayFault(t: TFunction, { code, params = {}, message }: Fault): string {
  if (code === undefined) return message
  return said(t, `fault.${code}`, params, message)
}

/** Why the server did not do what it was asked. */
export function sayProblem(t: TFunction, { code, params, detail }: Problem): string {
  return said(t, `problem.${code}`, params, detail)
}

/** What the server adds in its own words, where that is more than its code says. */
export function detailOf({ code, params, detail }: Problem): string | undefined {
  return SAYS_MORE.has(code) && params.reason === undefined ? detail : undefined
}

function said(t: TFunction, key: string, params: Params, otherwise: string): string {
  const count = params.limit ?? params.count
  const options = {
    context: contextOf(params),
    count: typeof count === 'number' ? count : undefined,
    defaultValue: otherwise,
  }
  const values = Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, shown(t, name, value, params)]),
  )
  // A text that speaks of a value which did not come would have a hole in it.
  const text: string = t(key, { ...options, skipInterpolation: true })
  const speaks = [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name)
  if (
    !speaks.every((name) => name in values || (name === 'count' && options.count !== undefined))
  ) {
    return otherwise
  }
  return t(key, { ...values, ...options })
}

/** What tells texts of one code apart: the reason, or that a list in the text is empty. */
function contextOf(params: Params): string | undefined {
  if (typeof params.reason === 'string') return params.reason
  const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0
  return Object.values(params).some(isEmpty) ? 'none' : undefined
}

/** The values that are data, and are shown as JSON has them. */
const QUOTED = new Set(['values', 'value', 'name', 'path', 'section', 'found'])

function shown(t: TFunction, name: string, value: unknown, params: Params): string {
  const quotes: string = t('quotes', { defaultValue: '“”' })
  const one = (part: unknown) => {
    if (typeof part !== 'string') return JSON.stringify(part)
    if (name === 'expected' || (name === 'found' && 'expected' in params)) {
      return t(`type.${part}`, { defaultValue: part })
    }
    if (name === 'format') return t(`format.${part}`, { defaultValue: part })
    return QUOTED.has(name) ? `${quotes[0]}${part}${quotes[1]}` : part
  }
  const all = Array.isArray(value) ? value.map(one) : [one(value)]
  if (name === 'expected') return all.join(t('or'))
  const more = name === 'values' && typeof params.more === 'number' ? params.more : 0
  return all.join(', ') + (more > 0 ? t('more', { count: more }) : '')
}

/** Why a call has to be approved: the rule, and the server's own sentence for one that is not known here. */
interface Asked {
  rule?: string | null
  reason: string
}

/** What the server says, for a component: it comes in the language of the page once its texts are there. */
export function useServerWords() {
  const { t } = useTranslation('server', { useSuspense: false })
  return {
    problem: (problem: Problem) => sayProblem(t, problem),
    code: (code: string) => t(`problem.${code}`, { defaultValue: '', skipInterpolation: true }),
    reason: ({ rule, reason }: Asked) =>
      rule ? t(`rule.${rule}`, { defaultValue: reason }) : reason,
  }
}

/** What the server has against what was sent to it, in the language of the page. */
export function useFaultsOf(error: unknown): Fault[] {
  const { t } = useTranslation('server', { useSuspense: false })
  return useMemo(() => {
    const errors = error instanceof Problem ? error.errors : NONE
    return errors.map((fault) => ({ ...fault, message: sayFault(t, fault) }))
  }, [error, t])
}

const NONE: Fault[] = []

const here: TFunction = (key, options) => t(key, { ns: 'server', ...options })

/** The same, outside of components. */
export function faultWords(fault: Fault): string {
  return sayFault(here, fault)
}

/** Why the server refused, in one sentence: its own where the code alone says too little. */
export function refusalWords(problem: Problem): string {
  return detailOf(problem) ?? sayProblem(here, problem)
}

/** What went wrong, in one line, outside of components. */
export function errorWords(error: unknown): string {
  if (!(error instanceof Problem)) return error instanceof Error ? error.message : String(error)
  const [text, detail] = [sayProblem(here, error), detailOf(error)]
  return detail && detail !== text ? `${text} (${detail})` : text
}
