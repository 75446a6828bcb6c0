import { isTooLow, isVersion, proposeVersion, suggestVersion } from './semver'

test.each([
  ['1.2.3', '1.2.3', 'none', '1.2.4'],
  ['1.2.3', '1.2.3', 'patch', '1.2.4'],
  ['1.2.3', '1.2.3', 'minor', '1.3.0'],
  ['1.2.3', '1.2.3', 'major', '2.0.0'],
  // The draft was given a number that is not enough, then one that is.
  ['1.2.3', '1.2.4', 'major', '2.0.0'],
  ['1.2.3', '2.0.0', 'major', '2.0.1'],
  ['1.2.3', '1.10.0', 'minor', '1.10.1'],
  ['1.2.3-rc.1', '1.2.3-rc.1', 'minor', '1.3.0'],
] as const)('%s live, %s draft, %s: %s', (live, draft, bump, next) => {
  expect(suggestVersion(live, draft, bump)).toBe(next)
})

test('numbers of versions', () => {
  for (const good of ['1.0.0', '0.0.1', '1.2.3-rc.1', '1.0.0+build'])
    expect(isVersion(good)).toBe(true)
  for (const bad of ['1', '1.0', '01.0.0', 'v1.0.0', '', '1.0.0-'])
    expect(isVersion(bad)).toBe(false)
})

test.each([
  [undefined, '1.0.0', 'major', '1.0.0'],
  ['1.0.0', '1.0.0', 'none', '1.0.0'],
  ['1.0.0', '1.0.0', 'patch', '1.0.1'],
  ['1.0.0', '1.0.0', 'major', '2.0.0'],
  // The draft has a number that is enough, or one that is not.
  ['1.0.0', '2.1.0', 'major', '2.1.0'],
  ['1.0.0', '1.1.0', 'major', '2.0.0'],
] as const)('%s live, %s draft, %s is published as %s', (live, draft, bump, number) => {
  expect(proposeVersion(live, draft, bump)).toBe(number)
})

test('a number says less than the changes ask for', () => {
  expect(isTooLow('1.9.9', '1.0.0', 'major')).toBe(true)
  expect(isTooLow('2.0.0', '1.0.0', 'major')).toBe(false)
  expect(isTooLow('1.0.1', '1.0.0', 'minor')).toBe(true)
  expect(isTooLow('1.0.0', '1.0.0', 'none')).toBe(false)
})
