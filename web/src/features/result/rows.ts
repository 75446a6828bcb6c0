import { type Json, type JsonObject, toRows } from './json'

export interface Table {
  columns: string[]
  rows: JsonObject[]
}

/** How many rows are looked at to learn the columns. */
const LOOKED_AT = 200

/** A value as a table, with the columns that `config` names or with all of them. */
export function table(value: Json, config: JsonObject = {}): Table | undefined {
  const rows = toRows(value)
  if (!rows || rows.length === 0) return undefined
  const wanted = Array.isArray(config.columns)
    ? config.columns.filter((column) => typeof column === 'string')
    : []
  return { columns: wanted.length > 0 ? wanted : columnsOf(rows), rows }
}

function columnsOf(rows: JsonObject[]): string[] {
  const columns = new Set<string>()
  for (const row of rows.slice(0, LOOKED_AT)) for (const key of Object.keys(row)) columns.add(key)
  return [...columns]
}

export interface Sort {
  column: string
  down: boolean
}

/** Rows in order of a column; what is missing comes last either way. */
export function sorted(rows: JsonObject[], sort: Sort | undefined, language: string): JsonObject[] {
  if (!sort) return rows
  const { column, down } = sort
  const words = new Intl.Collator(language, { numeric: true })
  const missing = (value: Json | undefined) => value === undefined || value === null
  return rows.toSorted((one, other) => {
    const [a, b] = [one[column], other[column]]
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b))
    const order =
      typeof a === 'number' && typeof b === 'number' ? a - b : words.compare(plain(a), plain(b))
    return down ? -order : order
  })
}

/** A value as a text, for files and for comparing. */
export function plain(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Rows as CSV (RFC 4180). What a spreadsheet would take for a formula is disarmed. */
export function csv({ columns, rows }: Table): string {
  const lines = [
    columns.map((column) => cell(column)),
    ...rows.map((row) => columns.map((column) => cell(row[column]))),
  ]
  return lines.map((line) => `${line.join(',')}\r\n`).join('')
}

function cell(value: Json | undefined): string {
  const text = plain(value)
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
