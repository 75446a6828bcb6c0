import { type Schema, validate, Validator } from '@cfworker/json-schema'

import { isJson, type Json } from '../schema/json'
import { pointer } from '../schema/pointer'
import { useOurFormats } from './formats'
import { isTame } from './patterns'

/** One keyword that a value does not meet, as the interpreter tells it. */
export interface Miss {
  keyword: string
  keywordLocation: string
  instanceLocation: string
  error: string
}

useOurFormats()

/**
 * Holds values against a schema without compiling it: the page's policy allows no eval.
 *
 * It is meant to say what the server says. What it cannot say here (a pattern that might take for
 * ever, a schema that sends it in circles) counts as met, and the server has the last word.
 */
export class Checker {
  private readonly validator: Validator | undefined

  constructor(schema: unknown) {
    try {
      this.validator = new Validator(checkable(schema) as Schema, '2020-12', false)
    } catch {
      this.validator = undefined
    }
  }

  misses(value: unknown): Miss[] {
    const large = tooLarge(value)
    try {
      return [...(this.validator?.validate(readable(value)).errors ?? []), ...large]
    } catch {
      return large
    }
  }
}

const LEAST = -(2 ** 63)
const MOST = 2 ** 64
/** From here on a number is written with an exponent, which makes it no whole one. */
const WITH_EXPONENT = 1e21

/** The whole numbers that the server takes nowhere, whatever a schema says: it keeps them exactly or not at all. */
function tooLarge(value: unknown, at = '#'): Miss[] {
  if (typeof value === 'number' || typeof value === 'bigint') {
    const written =
      typeof value === 'bigint' || (Number.isInteger(value) && Math.abs(value) < WITH_EXPONENT)
    const fits = !written || (LEAST <= value && value < MOST)
    const error = 'is beyond what can be kept exactly'
    return fits ? [] : [{ keyword: 'tooLarge', keywordLocation: '#', instanceLocation: at, error }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => tooLarge(inner, at + pointer([name])))
}

/** Whether a value meets a part of a prepared schema, whose references all lead to `#/$defs/…`. */
export function meets(schema: unknown, value: unknown, defs: unknown): boolean {
  const lookup: Record<string, Schema | boolean> = {}
  for (const [name, target] of Object.entries(isJson(defs) ? defs : {})) {
    lookup[`#/$defs/${name}`] = target as Schema
  }
  try {
    return validate(readable(value), schema as Schema, '2020-12', lookup).valid
  } catch {
    return false
  }
}

/** A copy that the interpreter can read: it marks what it has read, and throws at some of it. */
function checkable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(checkable)
  if (!isJson(schema)) return readable(schema)
  const out: Json = Object.create(null)
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'const' || name === 'enum' || name === 'default' || name === 'examples') {
      out[name] = readable(value)
    } else if (name === 'pattern' && typeof value === 'string') {
      if (isTame(value)) out[name] = value
    } else if (name === 'patternProperties' && isJson(value)) {
      const tame = Object.entries(value).filter(([pattern]) => isTame(pattern))
      out[name] = Object.fromEntries(tame.map(([pattern, part]) => [pattern, checkable(part)]))
    } else {
      out[name] = checkable(value)
    }
  }
  return out
}

/**
 * A value as the interpreter can read it. It knows no `bigint`, so what it says about a rounded number
 * is looked at again; and it takes what an object inherits, such as `constructor`, for a member.
 */
function readable(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(readable)
  if (!isJson(value)) return value
  const out: Json = Object.create(null)
  for (const [name, inner] of Object.entries(value)) out[name] = readable(inner)
  return out
}
