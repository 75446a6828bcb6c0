import { render } from '@testing-library/react'

import { localeOf } from '~/i18n'
import { duration, Moment } from './time'

const speaks = (...languages: string[]) =>
  vi.spyOn(navigator, 'languages', 'get').mockReturnValue(languages)

afterEach(() => vi.restoreAllMocks())

test.each([
  [['en-GB', 'de-AT'], 'en', 'en-GB'],
  [['en-GB', 'de-AT'], 'de', 'de-AT'],
  [['fr-FR', 'en'], 'en', 'en'],
  [['de-AT'], 'en', 'en'],
])('a browser that speaks %j writes %s as in %s', (languages, language, expected) => {
  speaks(...languages)
  expect(localeOf(language)).toBe(expected)
})

test('the time is written as people write it where the browser is at home', () => {
  const exact = () => {
    const { container, unmount } = render(<Moment at="2026-11-16T14:15:52Z" />)
    const title = container.querySelector('time')?.title
    unmount()
    return title
  }
  speaks('en-GB')
  expect(exact()).toMatch(/^16 Nov 2026.*\d\d:15:52$/)
  speaks('en-US')
  expect(exact()).toMatch(/^Nov 16, 2026.*15:52\s[AP]M$/)
  speaks('en-ZA')
  expect(duration(1_500)).toMatch(/^1,5/)
})
