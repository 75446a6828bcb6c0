import { isNotLoaded, NotLoaded, takeNewVersion } from './not-loaded'

const head = '<script src="/theme.js"></script><script src="/assets/index-old.js"></script>'

beforeEach(() => sessionStorage.clear())

test.each([
  [new NotLoaded(undefined), true],
  [new TypeError('Failed to fetch dynamically imported module: /assets/a.js'), true],
  [new TypeError('error loading dynamically imported module: /assets/a.js'), true],
  [new TypeError('Importing a module script failed.'), true],
  [new Error('Unable to preload CSS for /assets/a.css'), true],
  [new Error('x is undefined'), false],
  [undefined, false],
])('%s: %s', (error, expected) => {
  expect(isNotLoaded(error)).toBe(expected)
})

test('another version is taken once, the own one and none never', () => {
  expect(takeNewVersion('/assets/index-old.js', head)).toBe(false)
  expect(takeNewVersion(undefined, head)).toBe(false)
  expect(takeNewVersion('/assets/index-new.js', head)).toBe(true)
  expect(takeNewVersion('/assets/index-new.js', head)).toBe(false)
  expect(takeNewVersion('/assets/index-newer.js', head)).toBe(true)
})
