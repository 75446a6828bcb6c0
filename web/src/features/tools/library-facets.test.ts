import { choices, filtered, recentFirst } from './library-facets'

const tool = (slug: string, more: object = {}) => ({
  slug,
  name: slug,
  description: '',
  category: 'analysis',
  tags: [] as string[],
  origin: 'code',
  status: 'published',
  permission_level: 'read' as string | null,
  ...more,
})

const tools = [
  tool('roi', { tags: ['money'] }),
  tool('mail', { category: 'mail', permission_level: 'write', tags: ['team', 'team'] }),
  tool('wipe', { category: 'mail', permission_level: null, description: 'Removes old MAIL' }),
]
const slugs = (found: { slug: string }[]) => found.map((tool) => tool.slug)

test('every word has to be found, in any of the texts and in any case', () => {
  expect(slugs(filtered(tools, { q: 'mail' }))).toEqual(['mail', 'wipe'])
  expect(slugs(filtered(tools, { q: 'old Mail' }))).toEqual(['wipe'])
  expect(slugs(filtered(tools, { q: 'old roi' }))).toEqual([])
})

test('filters are joined by and', () => {
  expect(slugs(filtered(tools, { category: 'mail', level: 'write' }))).toEqual(['mail'])
  expect(slugs(filtered(tools, { level: 'none' }))).toEqual(['wipe'])
  expect(slugs(filtered(tools, { tag: 'money' }))).toEqual(['roi'])
})

test('a facet counts what its choices would leave, whatever is chosen in itself', () => {
  expect(choices(tools, { category: 'mail' }, 'category')).toEqual([
    { value: 'mail', count: 2 },
    { value: 'analysis', count: 1 },
  ])
  expect(choices(tools, { category: 'mail' }, 'level')).toEqual([
    { value: 'none', count: 1 },
    { value: 'write', count: 1 },
  ])
  expect(choices(tools, { q: 'roi' }, 'category')).toEqual([{ value: 'analysis', count: 1 }])
})

test('a tag that a tool has twice counts once', () => {
  expect(choices(tools, {}, 'tag')).toContainEqual({ value: 'team', count: 1 })
})

test('a choice that matches nothing stays, to be taken back', () => {
  expect(choices(tools, { origin: 'mcp' }, 'origin')).toContainEqual({ value: 'mcp', count: 0 })
})

test('what was used last comes first, and the rest keeps its order', () => {
  expect(slugs(recentFirst(tools, ['wipe', 'mail', 'wipe', 'gone']))).toEqual([
    'wipe',
    'mail',
    'roi',
  ])
})
