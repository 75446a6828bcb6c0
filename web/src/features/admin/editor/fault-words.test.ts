import { type TFunction } from '~/i18n'
import { plainly } from './fault-words'

const NAMED = { slug: 'a', name: 'A', description: 'B' }

const t: TFunction = (key) => key

test('what is wrong with a slug is said by our own rules', () => {
  const fault = { path: '/slug', code: 'characters', message: 'whatever' }
  expect(plainly(t, fault, { ...NAMED, slug: 'a b' })).toBe('slug.character')
  expect(plainly(t, fault, { ...NAMED, slug: '' })).toBe('slug.empty')
})

test('what the page itself found has a text of its own', () => {
  expect(plainly(t, { path: '/form_spec', message: 'json' }, NAMED)).toBe('fault.json')
})

test('what the server found is told by its code, and else in its words', () => {
  const fault = { path: '/x', code: 'unheard_of', message: 'is odd' }
  expect(plainly(t, fault, NAMED)).toBe('is odd')
})

test('whoever left the name or the description empty is told to enter one', () => {
  const fault = { path: '/name', code: 'char_length', message: 'must have 1 to 200 characters' }
  expect(plainly(t, fault, { ...NAMED, name: ' ' })).toBe('fault.name')
  expect(plainly(t, { ...fault, path: '/description' }, { ...NAMED, description: '' })).toBe(
    'fault.description',
  )
  expect(plainly(t, fault, NAMED)).not.toBe('fault.name')
})
