import i18next from 'i18next'

import { LANGUAGES } from './i18n'
import { router } from './router'

interface Preloaded {
  preload: () => Promise<unknown>
}

test.each(['/admin/tools/new', '/approvals'] as const)(
  'the page %s comes with the words for what the server says',
  async (path) => {
    i18next.removeResourceBundle('en', 'server')
    await (router.routesByPath[path].options.component as unknown as Preloaded).preload()
    expect(i18next.t('fault.required', { ns: 'server' })).toBe('This field is required.')
  },
  30_000,
)

describe('every page names itself in the title of the window', () => {
  const pages = Object.values(router.routesById)
    .map(({ options }) => options as { path?: string; component?: unknown; staticData?: object })
    .filter(({ path, component }) => path !== undefined && component !== undefined)

  test.each(LANGUAGES)('in %s', async (language) => {
    await i18next.changeLanguage(language)
    const titles = pages.map(({ path, staticData }) => {
      const { title } = { title: '', ...staticData }
      expect(title, path).not.toBe('')
      expect(i18next.exists(`title.${title}`, { lng: language, fallbackLng: [] }), path).toBe(true)
      return i18next.t(`title.${title}`)
    })
    await i18next.changeLanguage('en')
    expect(titles.length).toBeGreaterThan(15)
    expect(new Set(titles).size).toBe(titles.length)
  })
})
