import type { TFunction } from 'i18next'

import { type Fault, Problem } from '~/api/problem'
import { serverWords } from '~/i18n/server-words'

// The sentences that the server has, and the words for them here. Groups of a pattern are the values of the text.
const SENTENCES: [RegExp, key: string][] = [
  [/^is needed$|^cannot be null$/, 'needed'],
  [/^has 1 to (?<max>\d+) characters$/, 'length'],
  [/^has 1 to (?<max>\d+) bytes$/, 'bytes'],
  [/^consists of letters/, 'characters'],
  [/^starts and ends with/, 'ends'],
  [/^the label is taken$/, 'taken'],
  [/^is what stands in the place of a secret/, 'stars'],
  [/^holds characters that cannot be sent$/, 'control'],
  [/^cannot contain `:`$/, 'colon'],
  [/^is no name:/, 'name'],
  [/^holds at least one text$/, 'no_text'],
  [/^holds at most (?<max>\d+) texts$/, 'many_texts'],
  [/^is longer than (?<max>\d+) bytes$/, 'whole'],
  [/has several fields and none of them/, 'several'],
  [/^the URL cannot be used: (?<why>.+)$/, 'url'],
  [/^the request cannot be sent: (?<why>.+)$/, 'header'],
]

/** What the server has against something, in plain words; what is not known here stays as it came. */
export function plainly(t: TFunction<'credentials'>, message: string, value?: string): string {
  // A text that is not there has no length, and no address either.
  if (value === '') return t('fault.needed')
  for (const [pattern, key] of SENTENCES) {
    const found = pattern.exec(message)
    if (!found) continue
    const why = found.groups?.why
    return t(`fault.${key}`, { ...found.groups, ...(why && { why: serverWords(why) }) })
  }
  return message
}

/** The faults of a refusal. That a label is taken comes without its place. */
export function faultsOf(error: unknown): Fault[] {
  if (!(error instanceof Problem)) return []
  const { status, detail, errors } = error
  const isTaken = status === 409 && detail === 'the label is taken'
  return isTaken ? [{ path: '/label', message: detail }] : errors
}

/** The tools that keep a credential from being renamed or removed, if that is what a refusal says. */
export function usersIn(error: unknown): string[] {
  if (!(error instanceof Problem) || error.status !== 409) return []
  return /it is used by (.+)$/.exec(error.detail)?.[1]?.split(', ') ?? []
}

/** Whether somebody else changed what was to be changed. */
export function isStale(error: unknown): boolean {
  return error instanceof Problem && error.status === 412
}
