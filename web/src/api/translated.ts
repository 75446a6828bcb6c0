import { localeOf } from '~/i18n'

type Json = Record<string, unknown>

/** The parts of a tool that people read, with translations beside the originals. */
export interface Translatable {
  name?: unknown
  description?: unknown
  i18n?: unknown
  input_schema?: unknown
  output_schema?: unknown
  form_spec?: unknown
  view_spec?: unknown
  output_sections?: unknown
}

const made = new WeakMap<object, Map<string, object>>()

/**
 * A tool in the language of a page: every text that has a translation is replaced by it, the others stay as they were
 * written. The same tool in the same language is the same object.
 */
export function translated<T extends Translatable>(tool: T, language: string): T {
  const known = made.get(tool) ?? new Map<string, object>()
  made.set(tool, known)
  const found = known.get(language) ?? inLanguage(tool, tagsOf(language))
  known.set(language, found)
  return found as T
}

/** Whether a tool speaks the language of a page by a translation: what it says at a run is then in another one. */
export function isTranslated(tool: Translatable, language: string): boolean {
  const texts = isJson(tool.i18n) ? tool.i18n : {}
  return tagsOf(language).some((tag) => isJson(texts[tag]))
}

/** The language with its region, then without. */
function tagsOf(language: string): string[] {
  return [...new Set([localeOf(language), language])]
}

function inLanguage<T extends Translatable>(tool: T, tags: string[]): T {
  const node = (value: unknown) => schema(value, tags)
  const part = (value: unknown) => spec(value, tags)
  const changed = laidOver(Object.fromEntries(Object.entries(tool)), tool.i18n, tags)
  const parts = {
    input_schema: node,
    output_schema: node,
    form_spec: part,
    view_spec: part,
    output_sections: part,
  }
  for (const [name, change] of Object.entries(parts)) {
    if (changed[name] !== undefined) changed[name] = change(changed[name])
  }
  return changed as T
}

/** What is data, whatever it looks like. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'x-i18n'])

function schema(value: unknown, tags: string[]): unknown {
  if (Array.isArray(value)) return value.map((entry) => schema(entry, tags))
  if (!isJson(value)) return value
  const entries = Object.entries(value)
  const walked = entries.map(([name, entry]) => [
    name,
    DATA.has(name) ? entry : schema(entry, tags),
  ])
  return laidOver(Object.fromEntries(walked), value['x-i18n'], tags)
}

/** A form, a view or a list of sections: their parts are objects with an `i18n` of their own. */
function spec(value: unknown, tags: string[]): unknown {
  if (Array.isArray(value)) return value.map((entry) => spec(entry, tags))
  if (!isJson(value)) return value
  const lists = ['fields', 'sections', 'blocks'].filter((name) => Array.isArray(value[name]))
  const changed = lists.map((name) => [name, spec(value[name], tags)])
  return laidOver({ ...value, ...Object.fromEntries(changed) }, value.i18n, tags)
}

/** An object with the texts of the first of these languages that has each of them. */
function laidOver(value: Json, translations: unknown, tags: string[]): Json {
  if (!isJson(translations)) return value
  const texts = tags.toReversed().map((tag) => translations[tag])
  return Object.assign({}, value, ...texts.filter(isJson)) as Json
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
