import { useMemo } from 'react'

import { useLocale, useTranslation } from '~/i18n'
import { pointer, steps } from '../schema/pointer'
import { inShort, valuesOf, type Words } from './digest'
import { labelOf } from './label-of'
import { Place } from './place'

/** Without it the names are those that were sent. */
type Described = { input_schema: unknown; form_spec?: unknown } | undefined

export interface NamedValue {
  /** A JSON pointer into the input. */
  path: string
  label: string
  text: string
}

/** The values of an input, each with what the form calls it. */
export function useValues(tool: Described, input: unknown): NamedValue[] {
  const words = useWords()
  return useMemo(() => {
    const place = Place.top(tool?.input_schema ?? {}, tool?.form_spec)
    const values = valuesOf(place, input, words)
    return values.map(({ name, label, text }) => ({ path: pointer([name]), label, text }))
  }, [tool, input, words])
}

/** Values at any places of an input, by their pointers. */
export function useValuesAt(tool: Described, byPath: Record<string, unknown>): NamedValue[] {
  const words = useWords()
  return useMemo(() => {
    const described = { input_schema: tool?.input_schema ?? {}, form_spec: tool?.form_spec }
    const top = Place.top(described.input_schema, described.form_spec)
    return Object.entries(byPath).map(([path, value]) => {
      const place = steps(path).reduce((here, step) => here.at(indexed(step)), top)
      return {
        path,
        label: labelOf(described, path, undefined) || '/',
        text: inShort(place, value, words),
      }
    })
  }, [tool, byPath, words])
}

function indexed(step: string): string | number {
  return /^\d+$/.test(step) ? Number(step) : step
}

function useWords(): Words {
  const { t } = useTranslation('form')
  const locale = useLocale()
  return useMemo(() => ({ t, locale }), [t, locale])
}
