import i18next, { type ResourceKey } from 'i18next'
import { initReactI18next } from 'react-i18next'

// A namespace is a file: `useTranslation('runs')` reads en/runs.json. English is in the first load,
// because every other language falls back to it.
const english = import.meta.glob<ResourceKey>('./en/*.json', { eager: true, import: 'default' })
const german = import.meta.glob<ResourceKey>('./de/*.json', { import: 'default' })

export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

export async function startTexts(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    defaultNS: 'app',
    resources: { en: byNamespace(english) },
    interpolation: { escapeValue: false },
    react: { useSuspense: false },
  })
  await speak(remembered())
}

/** Changes the language, and remembers it in this browser. */
export async function choose(language: Language): Promise<void> {
  localStorage.setItem('language', language)
  await speak(language)
}

async function speak(language: Language): Promise<void> {
  if (language === 'de' && !i18next.hasResourceBundle('de', 'app')) {
    for (const [file, load] of Object.entries(german)) {
      i18next.addResourceBundle('de', namespace(file), await load())
    }
  }
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
}

function remembered(): Language {
  const wanted = localStorage.getItem('language') ?? navigator.language.slice(0, 2)
  return LANGUAGES.find((language) => language === wanted) ?? 'en'
}

function byNamespace(files: Record<string, ResourceKey>): Record<string, ResourceKey> {
  return Object.fromEntries(Object.entries(files).map(([file, texts]) => [namespace(file), texts]))
}

function namespace(file: string): string {
  return file.replace(/^.*\/(.*)\.json$/, '$1')
}
