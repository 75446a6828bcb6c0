import type { Tool } from '../types'
import { blankOf } from './inside'
import { BLANK, bodyOf, changedKeys, changesOf, fromTool, placeOf } from './definition'

const tool = {
  ...BLANK,
  slug: 'office.greet',
  name: 'Greet',
  required_permission: null,
  output_schema: undefined,
  implementation: { headers: { key: '***' } },
  etag: '"1"',
} as unknown as Tool

test('a tool that was only opened has no changes', () => {
  expect(changesOf(fromTool(tool), fromTool(tool))).toEqual({})
})

test('only what changed is sent, and a secret only with what it belongs to', () => {
  const before = fromTool(tool)
  expect(changesOf(before, { ...before, name: 'Hello' })).toEqual({ name: 'Hello' })
  const implementation = { ...before.implementation, timeout: 1 }
  expect(changesOf(before, { ...before, implementation })).toEqual({
    implementation: { headers: { key: '***' }, timeout: 1 },
  })
})

test('the order of fields is a change', () => {
  const schema = (properties: object) => ({
    ...BLANK,
    input_schema: { type: 'object', properties },
  })
  const [a, b] = [{ type: 'string' }, { type: 'number' }]
  expect(changedKeys(schema({ a, b }), schema({ b, a }))).toEqual(['input_schema'])
})

test('what is left empty is taken back', () => {
  const before = { ...BLANK, category: 'office', required_permission: 'a.b.c' }
  const after = { ...before, category: '', required_permission: '' }
  expect(changesOf(before, after)).toEqual({ category: null, required_permission: null })
})

test('a new tool says nothing of what is not known', () => {
  const body = bodyOf({ ...blankOf('http'), slug: 'a', name: 'A', description: 'B' })
  expect(body).toMatchObject({ slug: 'a', name: 'A', implementation_type: 'http' })
  for (const key of ['category', 'output_schema', 'permission_policy', 'status']) {
    expect(body).not.toHaveProperty(key)
  }
})

test.each([
  ['/slug', { tab: 'identity' }],
  ['/permission_level', { tab: 'visibility' }],
  ['/input_schema/properties/a/type', { tab: 'schema', side: undefined }],
  ['/output_schema', { tab: 'schema', side: 'output' }],
  ['/form_spec/0', { tab: 'schema', side: 'layout' }],
  ['/execution/max_concurrency', { tab: 'execution' }],
  ['', { tab: 'identity' }],
])('a fault at %s is found at its place', (path, place) => {
  expect(placeOf(path)).toEqual(place)
})
