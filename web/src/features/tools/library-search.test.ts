import { isNear, search } from './library-search'

const tool = (slug: string, name: string, description = '', tags: string[] = []) => ({
  slug,
  name,
  description,
  tags,
})

const tools = [
  tool('notes', 'Notes', 'Writes down what a mail says'),
  tool('post.mail', 'Send a mail'),
  tool('mail-merge', 'Mail merge', '', ['letters']),
  tool('mail', 'Post office'),
  tool('roi-calculator', 'ROI Calculator', 'Says when an investment pays'),
]

const found = (q: string) =>
  [...search(tools, q)].toSorted(([, a], [, b]) => a - b).map(([{ slug }]) => slug)

test('the very name comes first, then beginnings, then words of the name, then the rest', () => {
  expect(found('mail')).toEqual(['mail', 'mail-merge', 'post.mail', 'notes'])
  expect(found(' Mail ')).toEqual(found('mail'))
  expect(found('mail says')).toEqual(['notes'])
  expect(found('letters')).toEqual(['mail-merge'])
})

test.each(['calcultor', 'calculattor', 'calculetor', 'claculator', 'clacul', 'roi calcultor'])(
  '%s finds the calculator',
  (q) => expect(found(q)).toEqual(['roi-calculator']),
)

test('a word that is there is no typing error, and a short one never', () => {
  expect(found('says')).toEqual(['notes', 'roi-calculator'])
  expect(found('roy')).toEqual([])
  expect(found('kalkulator')).toEqual([])
})

test('one edit is near, two are not', () => {
  expect(isNear('recrod', 'record')).toBe(true)
  expect(isNear('recrdo', 'record')).toBe(false)
})

test('a thousand tools are searched while somebody types', () => {
  const words = Array.from({ length: 60 }, (_, n) => `word${n}`).join(' ')
  const many = Array.from({ length: 1_000 }, (_, n) => tool(`tool-${n}`, `Tool ${n}`, words))
  search(many, 'warm up')
  const start = performance.now()
  search(many, 'nothing near anything')
  expect(performance.now() - start).toBeLessThan(1_000)
})
