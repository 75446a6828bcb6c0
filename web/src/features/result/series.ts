import { isObject, type Json, type JsonObject, toRows } from './json'

/** More points than anybody can tell apart make a page slow; the table has them all. */
export const POINTS_MAX = 500

/** Numbers by category, of one or more lines. */
export interface Series {
  /** The key of the categories; missing where they are just counted. */
  x?: string
  categories: string[]
  lines: { key: string; values: (number | null)[] }[]
  /** How many points there are in all. */
  total: number
}

/**
 * Reads a chart out of a value: rows with the keys that `config` names, or what is closest to a label
 * and numbers; an object of numbers; or a plain list of numbers. Nothing when there is nothing to draw.
 */
export function series(value: Json, config: JsonObject): Series | undefined {
  const rows = toRows(value)
  const first = rows?.find(isObject)
  if (!rows || !first) return undefined
  const x = text(config.x) ?? text(config.label) ?? categoryKey(first)
  const wanted = texts(config.y) ?? texts(config.value)
  const keys = wanted ?? numberKeys(rows).filter((key) => key !== x)
  if (keys.length === 0) return undefined
  const shown = rows.slice(0, POINTS_MAX)
  const lines = keys.map((key) => ({ key, values: shown.map((row) => numeric(row[key])) }))
  if (lines.every(({ values }) => values.every((value) => value === null))) return undefined
  const categories = shown.map((row, index) => (x ? word(row[x]) : String(index + 1)))
  return { x, categories, lines, total: rows.length }
}

export interface Ranked {
  name: string
  value: number
  group?: string
}

/** Names and numbers in the order of the tool, which did the ranking. */
export function ranking(value: Json, config: JsonObject): Ranked[] | undefined {
  const found = series(value, config)
  const line = found?.lines[0]
  if (!found || !line) return undefined
  const group = text(config.group)
  const rows = toRows(value) ?? []
  return found.categories.flatMap((name, index) => {
    const number = line.values[index]
    if (number === null || number === undefined) return []
    return { name, value: number, group: group && word(rows[index]?.[group]) }
  })
}

function categoryKey(row: JsonObject): string | undefined {
  const keys = Object.keys(row)
  const named = keys.find((key) => typeof row[key] === 'string')
  // A year or a month is a number, and still not what is measured.
  return named ?? keys.find((key) => /^(year|month|week|day|hour|date|index|step|x)$/i.test(key))
}

function numberKeys(rows: JsonObject[]): string[] {
  const keys = new Set<string>()
  for (const row of rows.slice(0, 20)) {
    for (const [key, value] of Object.entries(row)) if (typeof value === 'number') keys.add(key)
  }
  return [...keys]
}

function numeric(value: Json | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

function word(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function texts(value: Json | undefined): string[] | undefined {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return undefined
  const found = value.filter((item) => typeof item === 'string')
  return found.length > 0 ? found : undefined
}
