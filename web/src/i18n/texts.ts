import { useEffect, useSyncExternalStore } from 'react'

// Texts of the pages by language and file. A file is a namespace: `useTranslation('runs')` reads en/runs.json. What every
// page shows is in the first load; the rest comes with the page that shows it.
import app from './en/app.json'

export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

/** A text by its key, with values put in for `{{name}}`. A key without a text stands for itself. */
export type TFunction = (key: string, options?: Options) => string

export interface Options {
  /** Chooses the plural form, and is a value too. */
  count?: number
  /** Chooses a text for this case where there is one: `key_context`. */
  context?: string
  /** Shown as it is where there is no text. */
  defaultValue?: string
  /** The file to read, instead of that of the component. */
  ns?: string
  /** Leaves `{{name}}` as it is. */
  skipInterpolation?: boolean
  [value: string]: unknown
}

interface Texts {
  [key: string]: string | Texts
}

const files = import.meta.glob<Texts>(['./{en,de}/*.json', '!./en/app.json'], { import: 'default' })

const DEFAULT = 'app'

const texts = new Map<string, Texts>([['en/app', app]])
const loads = new Map<string, Promise<void>>()
const listeners = new Set<() => void>()
let spoken: Language = 'en'

/** The language of the pages. */
export function language(): Language {
  return spoken
}

/** Shows the pages in a language. They stay in the one they are in where its texts do not come. */
export async function speak(wanted: Language): Promise<void> {
  const shown = [...texts.keys()].map((name) => name.slice(name.indexOf('/') + 1))
  try {
    await Promise.all(shown.map((namespace) => load(wanted, namespace)))
  } catch {
    return
  }
  spoken = wanted
  document.documentElement.lang = wanted
  tell()
}

/** Gets texts ready, so that a page is not shown without them. */
export async function loadTexts(namespaces: readonly string[]): Promise<void> {
  await Promise.all(namespaces.map((namespace) => load(spoken, namespace)))
}

/** What failed is asked for again by whoever needs it next. */
function load(language: Language, namespace: string): Promise<void> {
  const name = `${language}/${namespace}`
  if (texts.has(name)) return Promise.resolve()
  const known = loads.get(name)
  if (known) return known
  const file = files[`./${name}.json`]
  if (!file) return Promise.reject(new Error(`no texts ${name}`))
  const loading = file()
    .then((content) => {
      texts.set(name, content)
      tell()
    })
    .finally(() => loads.delete(name))
  loads.set(name, loading)
  return loading
}

function tell() {
  for (const listener of listeners) listener()
}

function listen(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * The texts of some files for a component, the first of them before the others. It is drawn anew in another language, and waits
 * for its texts unless told otherwise.
 */
export function useTranslation(
  namespaces: string | readonly string[] = DEFAULT,
  { useSuspense = true } = {},
): { t: TFunction; language: Language } {
  const names = typeof namespaces === 'string' ? [namespaces] : namespaces
  const t = useSyncExternalStore(listen, () => reader(spoken, names))
  const missing = names.filter((namespace) => !texts.has(`${spoken}/${namespace}`))
  // Not `use`: React takes the hooks of a component for changed when it is drawn again and calls `use` no more.
  if (useSuspense && missing.length > 0) throw loadTexts(missing)
  const unheard = missing.join(' ')
  useEffect(() => {
    // Whoever does not wait for texts does without them.
    if (unheard !== '') loadTexts(unheard.split(' ')).catch(() => {})
  }, [unheard])
  return { t, language: spoken }
}

/** The texts of every page, outside of components. */
export const t: TFunction = (key, options) => read(spoken, [DEFAULT], key, options)

const readers = new Map<string, TFunction>()

/** The same function as long as it says the same. */
function reader(language: Language, namespaces: readonly string[]): TFunction {
  const has = (namespace: string) => (texts.has(`${language}/${namespace}`) ? '' : '-') + namespace
  const id = `${language} ${namespaces.map(has).join(' ')}`
  const known = readers.get(id)
  if (known) return known
  const made: TFunction = (key, options) => read(language, namespaces, key, options)
  readers.set(id, made)
  return made
}

function read(
  language: Language,
  namespaces: readonly string[],
  key: string,
  options: Options = {},
): string {
  const text = find(language, options.ns ? [options.ns] : namespaces, key, options)
  if (text === undefined) return options.defaultValue ?? key
  return options.skipInterpolation ? text : filledIn(text, options)
}

function find(
  language: Language,
  namespaces: readonly string[],
  key: string,
  { count, context }: Options,
): string | undefined {
  const colon = key.indexOf(':')
  const path = key.slice(colon + 1)
  const plural = count === undefined ? [] : [`_${pluralOf(language, count)}`]
  const special = context === undefined ? [] : [...plural, ''].map((end) => `_${context}${end}`)
  for (const namespace of colon < 0 ? namespaces : [key.slice(0, colon)]) {
    const all = texts.get(`${language}/${namespace}`)
    for (const end of [...special, ...plural, '']) {
      const text = all && at(all, `${path}${end}`)
      if (text !== undefined) return text
    }
  }
  return undefined
}

function at(all: Texts, path: string): string | undefined {
  let found: string | Texts | undefined = all
  for (const name of path.split('.')) {
    found = typeof found === 'object' && Object.hasOwn(found, name) ? found[name] : undefined
  }
  return typeof found === 'string' ? found : undefined
}

const plurals = new Map<Language, Intl.PluralRules>()

function pluralOf(language: Language, count: number): string {
  const rules = plurals.get(language) ?? new Intl.PluralRules(language)
  plurals.set(language, rules)
  return rules.select(count)
}

function filledIn(text: string, values: Options): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(values[name] ?? ''))
}
