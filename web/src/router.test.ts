import i18next from 'i18next'

import { router } from './router'

interface Preloaded {
  preload: () => Promise<unknown>
}

test.each(['/admin/tools/new', '/approvals'] as const)(
  'the page %s comes with the words for what the server says',
  async (path) => {
    i18next.removeResourceBundle('en', 'server')
    await (router.routesByPath[path].options.component as unknown as Preloaded).preload()
    expect(i18next.t('fault.required', { ns: 'server' })).toBe('This is needed.')
  },
  30_000,
)
