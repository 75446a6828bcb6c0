import { faultOfSlug, slugOf } from './slug'

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
