import { render, screen } from '@testing-library/react'
import { act, Suspense, useEffect } from 'react'

import { speak, t, useTranslation } from '.'

test.each([
  [1, '1 request'],
  [0, '0 requests'],
  [2, '2 requests'],
])('a count of %i chooses the plural', (count, expected) => {
  expect(t('approvals:requests', { count })).toBe(expected)
})

test('a case of its own comes before the plural, and that before the plain text', () => {
  const ofServer = (context?: string) =>
    t('problem.CONFLICT', { ns: 'server', context, by: 'a', count: 2 })
  expect(ofServer('in_use')).toBe('It is used by: a.')
  expect(ofServer('no_such_case')).toBe('The current state does not allow this.')
})

test('a value that did not come leaves no braces behind', () => {
  expect(t('request_id', { id: 'r1' })).toBe('Request id: r1')
  expect(t('request_id')).toBe('Request id: ')
  expect(t('request_id', { skipInterpolation: true })).toBe('Request id: {{id}}')
})

test('a key without a text is shown, or what is given in its place, as it is', () => {
  expect(t('no.such.key')).toBe('no.such.key')
  expect(t('constructor')).toBe('constructor')
  expect(t('nav')).toBe('nav')
  expect(t('no.such.key', { defaultValue: '`{{id}}` is missing', id: 1 })).toBe(
    '`{{id}}` is missing',
  )
})

test('a component follows the language, and reads its files in their order', async () => {
  function Words() {
    const { t, language } = useTranslation(['answers', 'approvals'])
    return [language, t('title'), t('status.pending'), t('close', { ns: 'app' })].join(', ')
  }
  render(<Words />)
  screen.getByText('en, To answer, Waiting, Close')
  await act(() => speak('de'))
  screen.getByText('de, Zu beantworten, Offen, Schließen')
  expect(document.documentElement.lang).toBe('de')
  await act(() => speak('en'))
})

describe('where the texts of a page are not there yet', () => {
  beforeEach(() => vi.resetModules())

  test('a component waits for them', async () => {
    const { useTranslation } = await import('.')
    const seen = vi.fn()
    function Title() {
      const { t } = useTranslation('runs')
      // Hooks after the texts, as every component has them.
      useEffect(() => seen(), [])
      return t('title')
    }
    await act(async () =>
      render(
        <Suspense fallback="waits">
          <Title />
        </Suspense>,
      ),
    )
    await screen.findByText('Runs')
    expect(seen).toHaveBeenCalledOnce()
  })

  test('or does without, if it says so, until they come', async () => {
    const { useTranslation } = await import('.')
    function Fault() {
      const { t } = useTranslation('server', { useSuspense: false })
      return t('fault.required', { defaultValue: 'the words of the server' })
    }
    const { container, findByText } = render(<Fault />)
    expect(container.textContent).toBe('the words of the server')
    await findByText('This field is required.')
  })
})
