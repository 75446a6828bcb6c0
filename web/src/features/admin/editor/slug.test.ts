import { faultOfSlug, followed, isSameSlug, proposedSlug, slugOf } from './slug'

test.each([
  ['office.greet', undefined],
  ['data.searchRecords', undefined],
  ['a-b_c.D1', undefined],
  ['', 'empty'],
  ['a'.repeat(129), 'long'],
  ['a b', 'character'],
  ['straße', 'character'],
  ['.a', 'part_start'],
  ['a..b', 'part_start'],
  ['a.1', 'part_start'],
  ['a__b', 'underscores'],
  ['New', 'reserved'],
  ['af4359a0-d68a-5a70-a2a5-a667605de415', 'reserved'],
])('%s: %s', (slug, fault) => {
  expect(faultOfSlug(slug)).toBe(fault)
})

test.each([
  ['Greet people', 'greet-people'],
  ['  Überblick: Umsätze! ', 'ueberblick-umsaetze'],
  ['3D Viewer', 'd-viewer'],
  ['Café crème', 'cafe-creme'],
  ['Größe 2.0 messen', 'groesse-2-0-messen'],
  ['office.Greet', 'office-greet'],
  [`${'a'.repeat(127)} b`, 'a'.repeat(127)],
  ['???', ''],
])('%s makes %s', (name, slug) => {
  expect(slugOf(name)).toBe(slug)
  if (slug) expect(faultOfSlug(slug)).toBeUndefined()
})

test('a reserved word is proposed with another one behind it', () => {
  expect(proposedSlug('New')).toBe('new-tool')
  expect(proposedSlug('News')).toBe('news')
})

test('a slug follows the name until somebody writes their own', () => {
  const now = { name: '', slug: '' }
  expect(followed(now, 'City weather')).toBe('city-weather')
  expect(followed({ name: 'City', slug: 'city' }, 'City weather')).toBe('city-weather')
  expect(followed({ name: 'City', slug: 'weather.now' }, 'City weather')).toBe('weather.now')
  expect(followed({ name: 'City', slug: '' }, 'City weather')).toBe('')
})

test('names that differ by case or by the mark between words are one', () => {
  expect(isSameSlug('roi-calculator', 'ROI_calculator')).toBe(true)
  expect(isSameSlug('roi.calculator', 'roi-calculators')).toBe(false)
})
