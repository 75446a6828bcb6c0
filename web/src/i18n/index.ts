import { LANGUAGES, type Language, language, speak, useTranslation } from './texts'

export {
  LANGUAGES,
  type Language,
  language,
  loadTexts,
  speak,
  type TFunction,
  t,
  useTranslation,
} from './texts'

/** Speaks the language of whoever looks, before anything is drawn. */
export function startTexts(): Promise<void> {
  return speak(remembered())
}

/** Speaks the language that somebody chose for their account, and remembers it; without a choice, that of the browser. */
export async function follow(setting: string | null | undefined): Promise<void> {
  const chosen = LANGUAGES.find((language) => language === setting)
  if (chosen) {
    localStorage.setItem('language', chosen)
    localStorage.setItem('language-of', 'account')
  } else if (localStorage.getItem('language-of') === 'account') {
    // It was the choice of somebody else, or has been taken back.
    localStorage.removeItem('language')
    localStorage.removeItem('language-of')
  }
  const wanted = remembered()
  if (wanted !== language()) await speak(wanted)
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
  return localeOf(useTranslation().language)
}

/** The same, outside of components. */
export function locale(): string {
  return localeOf(language())
}

function remembered(): Language {
  const wanted = [localStorage.getItem('language'), navigator.language, ...navigator.languages]
  const known = wanted.map((tag) => LANGUAGES.find((language) => language === tag?.slice(0, 2)))
  return known.find((language) => language !== undefined) ?? 'en'
}
