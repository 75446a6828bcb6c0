import i18next, { type BackendModule, type ResourceKey } from 'i18next'
import { initReactI18next, useTranslation } from 'react-i18next'

// A namespace is a file: `useTranslation('runs')` reads en/runs.json. What every page shows is in the first
// load; the rest comes with the page that shows it.
import app from './en/app.json'

const files = import.meta.glob<ResourceKey>(['./{en,de}/*.json', '!./en/app.json'], {
  import: 'default',
})

export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

const fromFiles: BackendModule = {
  type: 'backend',
  init: () => {},
  read: (language, namespace, done) => {
    const load = files[`./${language}/${namespace}.json`]
    if (!load) return done(new Error(`no texts ${language}/${namespace}`), false)
    load().then(
      (texts) => done(null, texts),
      (error) => done(error, false),
    )
  },
}

export async function startTexts(): Promise<void> {
  const language = remembered()
  await i18next
    .use(fromFiles)
    .use(initReactI18next)
    .init({
      lng: language,
      fallbackLng: 'en',
      ns: ['app'],
      defaultNS: 'app',
      resources: { en: { app } },
      partialBundledLanguages: true,
      interpolation: { escapeValue: false },
    })
  document.documentElement.lang = language
}

/** Gets texts ready, so that a page is not shown without them. */
export async function loadTexts(namespaces: readonly string[]): Promise<void> {
  await i18next.loadNamespaces(namespaces)
  // What failed is passed over in silence, and never asked for again.
  const missing = i18next.languages.flatMap((language) =>
    namespaces
      .filter((namespace) => !i18next.hasResourceBundle(language, namespace))
      .map((namespace) => ({ language, namespace })),
  )
  await Promise.all(
    missing.map(async ({ language, namespace }) => {
      const texts = await files[`./${language}/${namespace}.json`]?.()
      i18next.addResourceBundle(language, namespace, texts)
    }),
  )
}

/** Speaks the language that somebody chose for their account, and remembers it; without a choice, that of the browser. */
export async function follow(setting: string | null | undefined): Promise<void> {
  const language = LANGUAGES.find((language) => language === setting)
  if (language) {
    localStorage.setItem('language', language)
    localStorage.setItem('language-of', 'account')
  } else if (localStorage.getItem('language-of') === 'account') {
    // It was the choice of somebody else, or has been taken back.
    localStorage.removeItem('language')
    localStorage.removeItem('language-of')
  }
  await speak(remembered())
}

async function speak(language: Language): Promise<void> {
  if (language === i18next.language) return
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
}

/**
 * The language with its region, by which dates and numbers are written: English alone does not say whether it is
 * 14:00 or 2 pm, nor which of day and month comes first. The browser knows, if the page speaks one of its languages.
 */
export function localeOf(language: string): string {
  const isOf = (tag: string) => tag === language || tag.startsWith(`${language}-`)
  return navigator.languages.find(isOf) ?? language
}

/** How dates and numbers are written on this page. */
export function useLocale(): string {
  return localeOf(useTranslation().i18n.language)
}

/** The same, outside of components. */
export function locale(): string {
  return localeOf(i18next.language)
}

function remembered(): Language {
  const wanted = [localStorage.getItem('language'), navigator.language, ...navigator.languages]
  const known = wanted.map((tag) => LANGUAGES.find((language) => language === tag?.slice(0, 2)))
  return known.find((language) => language !== undefined) ?? 'en'
}
