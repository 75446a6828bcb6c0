import { type Fault, Problem } from '~/api/problem'
import { type TFunction } from '~/i18n'
import { faultWords } from '~/i18n/server-words'

/** What the server has against something, in plain words. A text that is not there has no length, and no address. */
export function plainly(t: TFunction, fault: Fault, value?: string): string {
  if (value === '') return t('fault.needed')
  return fault.code === 'taken' ? t('fault.taken') : faultWords(fault)
}

/** The faults of a refusal. */
export function faultsOf(error: unknown): Fault[] {
  return error instanceof Problem ? error.errors : []
}

/** The tools that keep a credential from being renamed or removed, if that is what a refusal says. */
export function usersIn(error: unknown): string[] {
  if (!(error instanceof Problem) || error.params.reason !== 'in_use') return []
  return Array.isArray(error.params.by) ? error.params.by.map(String) : []
}

/** Whether somebody else changed what was to be changed. */
export function isStale(error: unknown): boolean {
  return error instanceof Problem && error.status === 412
}
