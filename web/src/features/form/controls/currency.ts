import { createContext } from 'react'

import { isJson, own, text } from '../schema/json'

/** The currency that the form names, if it does. */
export const CurrencyContext = createContext<string | undefined>(undefined)

/** The currency in which the amounts of an input are: its own member of that name. */
export function currencyOf(input: unknown): string | undefined {
  const named = isJson(input) ? text(own(input, 'currency'))?.trim() : undefined
  return named || undefined
}
