import { LANGUAGES, speak, t } from './i18n'
import { router } from './router'

interface Preloaded {
  preload: () => Promise<unknown>
}

test.each(['/admin/tools/new', '/approvals'] as const)(
  'the page %s comes with the words for what the server says',
  async (path) => {
    // As where this page is the first.
    vi.resetModules()
    const { router } = await import('./router')
    const { t } = await import('./i18n')
    expect(t('fault.required', { ns: 'server' })).toBe('fault.required')
    await (router.routesByPath[path].options.component as unknown as Preloaded).preload()
    expect(t('fault.required', { ns: 'server' })).toBe('This field is required.')
  },
  30_000,
)

describe('every page names itself in the title of the window', () => {
  const pages = Object.values(router.routesById)
    .map(({ options }) => options as { path?: string; component?: unknown; staticData?: object })
    .filter(({ path, component }) => path !== undefined && component !== undefined)

  test.each(LANGUAGES)('in %s', async (language) => {
    await speak(language)
    const titles = pages.map(({ path, staticData }) => {
      const { title } = { title: '', ...staticData }
      expect(title, path).not.toBe('')
      const text = t(`title.${title}`)
      expect(text, path).not.toBe(`title.${title}`)
      return text
    })
    await speak('en')
    expect(titles.length).toBeGreaterThan(15)
    expect(new Set(titles).size).toBe(titles.length)
  })
})
