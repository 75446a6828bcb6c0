import type { TFunction } from 'i18next'

import { plainly } from './fault-words'

const t = ((key: string) => key) as unknown as TFunction<'admin'>

test('what is wrong with a slug is said by our own rules', () => {
  const fault = { path: '/slug', code: 'characters', message: 'whatever' }
  expect(plainly(t, fault, 'a b')).toBe('slug.character')
  expect(plainly(t, fault, '')).toBe('slug.empty')
})

test('what the page itself found has a text of its own', () => {
  expect(plainly(t, { path: '/form_spec', message: 'json' }, 'a')).toBe('fault.json')
})

test('what the server found is told by its code, and else in its words', () => {
  const fault = { path: '/x', code: 'unheard_of', message: 'is odd' }
  expect(plainly(t, fault, 'a')).toBe('is odd')
})
