import { type Fault, Problem } from '~/api/problem'
import { speak } from '~/i18n'
import codes from '../../../openapi/codes.json'
import { loadTexts } from '.'
import { detailOf, errorWords, faultWords } from './server-words'

const texts = import.meta.glob<Record<string, Record<string, string>>>('./{en,de}/server.json', {
  eager: true,
  import: 'default',
})

const fault = (code: string, params: Record<string, unknown> = {}): Fault => ({
  path: '/a',
  code,
  params,
  message: 'the words of the server',
})

beforeAll(async () => {
  await speak('de')
  await loadTexts(['server'])
})

afterAll(async () => {
  await speak('en')
})

test.each(['en', 'de'])(
  'every code has a text in %s, with the values that come with it',
  (language) => {
    const { fault = {}, problem = {} } = texts[`./${language}/server.json`] ?? {}
    for (const [code, params] of Object.entries<string[]>(codes.faults)) {
      const text = fault[code] ?? fault[`${code}_other`]
      expect(text, code).toBeDefined()
      const known = [...params, 'count']
      for (const [, name = ''] of text!.matchAll(/\{\{(\w+)\}\}/g))
        expect(known, code).toContain(name)
    }
    for (const code of codes.errors) expect(problem[code], code).toBeDefined()
  },
)

test.each([
  ['required', {}, 'Dieses Feld ist erforderlich.'],
  ['min_length', { limit: 2 }, 'Geben Sie mindestens 2 Zeichen ein.'],
  [
    'type',
    { expected: ['integer', 'null'], found: 'string' },
    'Hier muss eine ganze Zahl oder null stehen, nicht Text.',
  ],
  [
    'type',
    { expected: 'object', found: 'array' },
    'Hier muss ein JSON-Objekt stehen, nicht eine Liste.',
  ],
  ['enum', { values: ['a', 5], more: 3 }, 'Wählen Sie eines davon: „a“, 5 und 3 weitere.'],
  ['format', { format: 'email' }, 'Hier muss ein gültiger Wert der Form „E-Mail-Adresse“ stehen.'],
  [
    'unknown_field_in_expression',
    { name: 'input.town', known: ['input.city', 'input.zip'] },
    'Es gibt kein Feld „input.town“. Es gibt: input.city, input.zip.',
  ],
  [
    'unknown_field_in_expression',
    { name: 'input.town', known: [] },
    'Es gibt kein Feld „input.town“.',
  ],
  ['unheard_of', {}, 'the words of the server'],
  ['minimum', {}, 'the words of the server'],
])('a fault %s %o is told in German', (code, params, expected) => {
  expect(faultWords(fault(code, params))).toBe(expected)
})

test('what this page found by itself is told as it is', () => {
  expect(faultWords({ path: '/a', message: 'is odd' })).toBe('is odd')
})

test.each([
  [404, 'TOOL_NOT_FOUND', { tool: 'a' }, 'Hier gibt es kein Werkzeug „a“.'],
  [
    401,
    'UNAUTHENTICATED',
    { reason: 'wrong_password' },
    'Die E-Mail-Adresse oder das Passwort ist falsch.',
  ],
  [409, 'CONFLICT', { reason: 'in_use', by: ['a', 'b'] }, 'Es wird noch gebraucht von: a, b.'],
  [409, 'CONFLICT', {}, 'Der jetzige Zustand erlaubt das nicht. (no)'],
  [404, 'TOOL_NOT_FOUND', {}, 'no'],
  [502, 'UNKNOWN', {}, 'no'],
])('a problem %i %s %o is told in German', (status, code, params, expected) => {
  expect(errorWords(new Problem(status, code, 'no', [], undefined, params))).toBe(expected)
})

test('the words of the server are added where they say more', () => {
  expect(detailOf(new Problem(409, 'CONFLICT', 'no'))).toBe('no')
  expect(
    detailOf(new Problem(409, 'CONFLICT', 'no', [], undefined, { reason: 'busy' })),
  ).toBeUndefined()
  expect(detailOf(new Problem(404, 'NOT_FOUND', 'no'))).toBeUndefined()
})
