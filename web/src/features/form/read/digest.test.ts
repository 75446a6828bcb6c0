import { type TFunction } from '~/i18n'
import { digest, varyingIn } from './digest'
import { labelOf } from './label-of'
import { Place } from './place'

const t: TFunction = (key, { count } = {}) => (count === undefined ? key : `${key} ${count}`)
const WORDS = { t, locale: 'en-GB' }

const SCHEMA = {
  type: 'object',
  properties: {
    initialInvestment: { type: 'number', 'x-unit': 'currency' },
    currency: { type: 'string', default: 'USD' },
    annualCost: { type: 'number', default: 0 },
    note: { type: 'string' },
    key: { type: 'string', format: 'password' },
    lines: { type: 'array', items: { type: 'object', properties: { price: { title: 'Price' } } } },
    tags: { type: 'array', items: { type: 'string' } },
    urgent: { type: 'boolean', default: false },
  },
  required: ['initialInvestment'],
}
const place = Place.top(SCHEMA, undefined)
const told = (input: unknown, varying?: Set<string>) => {
  const { values, more } = digest(place, input, WORDS, varying)
  return [...values.map(({ label, text }) => `${label}: ${text}`), ...(more ? [`+${more}`] : [])]
}

test('values stand behind their labels, without what is as always', () => {
  const input = { initialInvestment: 10000, currency: 'USD', annualCost: 0, urgent: true, note: '' }
  expect(told(input)).toEqual(['Initial Investment: 10,000 USD', 'Urgent: yes'])
})

test('what differs between the inputs of a list comes before anything else', () => {
  const inputs = [
    { initialInvestment: 1, note: 'a', tags: ['x'], urgent: true, lines: [{}], annualCost: 0 },
    { initialInvestment: 1, note: 'a', tags: ['x'], urgent: true, lines: [{}], annualCost: 7 },
  ]
  const varying = varyingIn(inputs)
  expect([...varying]).toEqual(['annualCost'])
  expect(told(inputs[0], varying)).toEqual([
    'Initial Investment: 1',
    'Annual Cost: 0',
    'Note: a',
    'Lines: read.entries 1',
    '+2',
  ])
})

test('nothing is raw: secrets are hidden, lists counted, long texts cut to one line', () => {
  const [note, key, lines] = told({
    key: 'hunter2',
    note: `two\nlines ${'x'.repeat(80)}`,
    lines: [{ price: 1 }, { price: 2 }],
  })
  expect(key).toBe('Key: ••••••••')
  expect(note).toMatch(/^Note: two lines x{50}…$/)
  expect(lines).toBe('Lines: read.entries 2')
})

test('a text that would turn the line around is spelled out', () => {
  expect(told({ note: 'pay \u202E001' })).toEqual(['Note: pay \\u{202E}001'])
})

test('an input that nobody has described is told by the names that were sent', () => {
  const { values } = digest(Place.top({}, undefined), { a_b: 1 }, WORDS)
  expect(values).toEqual([{ name: 'a_b', label: 'a_b', text: '1' }])
})

test('a place is named by the labels on the way to it', () => {
  const tool = { input_schema: SCHEMA }
  const input = { lines: [{ price: 1 }, { price: 2 }] }
  expect(labelOf(tool, '/initialInvestment', input)).toBe('Initial Investment')
  expect(labelOf(tool, '/lines/1/price', input)).toBe('Lines › 2 › Price')
  expect(labelOf(tool, '', input)).toBe('')
})
