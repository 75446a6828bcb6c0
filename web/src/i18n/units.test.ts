import { unitWord } from './units'

test('units that every language has a word for are in the words of the page', () => {
  expect([unitWord('years', 'de'), unitWord('hours', 'de')]).toEqual(['Jahre', 'Stunden'])
  expect(unitWord('years', 'en')).toBe('years')
  expect([unitWord('points', 'de-AT'), unitWord('points', 'en')]).toEqual(['Punkte', 'points'])
  expect(unitWord('pallets', 'de')).toBe('pallets')
})
