import type { ErrorSchema } from '@rjsf/utils'

import type { Fault } from '~/api/problem'
import { type TFunction } from '~/i18n'
import type { Complaint } from './check/complaints'
import type { FormModel } from './model'
import type { Json } from './schema/json'
import { pointer, type Step } from './schema/pointer'

/** Says a complaint in the language of the page. */
export function said({ path, key, params }: Complaint, t: TFunction, language: string): Fault {
  const limit = params?.limit
  const shown =
    typeof limit === 'number' || typeof limit === 'bigint'
      ? new Intl.NumberFormat(language, { maximumFractionDigits: 20 }).format(limit)
      : limit
  return { path, message: t(`form:fault.${key}`, { ...params, limit: shown }) }
}

export interface Placed {
  /** Next to their fields, in the shape of the form library. */
  byField: ErrorSchema
  /** Those that no field shows. */
  loose: Fault[]
  /** The pointers of the fields that have one. */
  fields: Set<string>
}

/** One and the same, so that nothing is drawn again. */
const NOWHERE: Placed = { byField: {}, loose: [], fields: new Set() }

/** Puts every fault to the field that shows it. */
export function placed(faults: readonly Fault[], model: FormModel, draft: unknown): Placed {
  if (faults.length === 0) return NOWHERE
  const byField: Json = {}
  const loose: Fault[] = []
  const fields = new Set<string>()
  for (const fault of faults) {
    const path = model.fieldOf(fault.path, draft)
    if (path.length === 0) {
      loose.push(fault)
      continue
    }
    const rest = fault.path.slice(pointer(path).length)
    put(byField, path, rest === '' ? fault.message : `${rest.slice(1)}: ${fault.message}`)
    fields.add(pointer(path))
  }
  return { byField: byField as ErrorSchema, loose, fields }
}

function put(tree: Json, path: readonly Step[], message: string) {
  let here = tree
  for (const step of path) {
    if (!Object.hasOwn(here, step)) here[step] = {}
    here = here[step] as Json
  }
  const messages = (here.__errors ??= []) as string[]
  if (!messages.includes(message)) messages.push(message)
}
