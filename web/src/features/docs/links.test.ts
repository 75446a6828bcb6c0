import { isOurs, linkFrom } from './links'

test.each([
  ['/docs/kinds.md', 'registry.md', '/docs/registry'],
  ['/docs/kinds.md', 'registry.md#test-cases', '/docs/registry#test-cases'],
  ['/docs/kinds.md', 'errors/README.md', '/docs/errors'],
  ['/docs/errors/README.md', 'TIMEOUT.md', '/docs/errors/TIMEOUT'],
  ['/docs/errors/TIMEOUT.md', '../faults.md', '/docs/faults'],
  ['/docs/errors/TIMEOUT.md', '../README.md', '/docs'],
  ['/docs/kinds.md', '#http', '#http'],
  ['/docs/kinds.md', '/api/openapi.json', '/api/openapi.json'],
  ['/docs/kinds.md', 'https://example.com/a.md', 'https://example.com/a.md'],
])('on %s the link %s leads to %s', (page, target, address) => {
  expect(linkFrom(page, target)).toBe(address)
})

test.each(['javascript:alert(1)', 'data:text/html,x', '//evil.example/a.md', 'http://'])(
  'a link to %s leads nowhere',
  (target) => {
    expect(linkFrom('/docs/kinds.md', target)).toBeUndefined()
  },
)

test('only pages of the book stay in the app', () => {
  expect(['/docs', '/docs/kinds', '/docs#quick-start'].map(isOurs)).toEqual([true, true, true])
  expect(['/docsx', '/api/openapi.json', 'https://a.example/docs'].some(isOurs)).toBe(false)
})
