import { dropRow, moved, moveRow, newSection, rowsOf, sayOf, withSections } from './form-layout'

const INPUT = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' }, note: { type: 'string' } },
}

const paths = (spec: unknown) => rowsOf(spec, INPUT).map(({ path }) => path)

test('a form shows what the spec names, and then the rest of the schema', () => {
  const spec = { version: 2, fields: [{ path: '/note', width: 'half' }, { path: '/gone' }] }
  expect(paths(spec)).toEqual(['/note', '/gone', '/city', '/days'])
  expect(rowsOf(spec, INPUT)[1]?.schema).toBeUndefined()
  expect(rowsOf(null, INPUT)[1]).toEqual({
    path: '/days',
    said: { path: '/days' },
    schema: { type: 'integer' },
  })
})

test('only what is said is written, and a spec that says nothing is none', () => {
  const one = sayOf(null, INPUT, '/city', { width: 'half', help: 'Where?' })
  expect(one).toEqual({
    version: 2,
    fields: [{ path: '/city', width: 'half', help: 'Where?' }],
  })
  expect(sayOf(one, INPUT, '/city', { width: undefined, help: '' })).toBeNull()
  // Those before it have to be named, or it would move to the front.
  expect(sayOf(null, INPUT, '/days', { width: 'third' })?.fields).toEqual([
    { path: '/city' },
    { path: '/days', width: 'third' },
  ])
})

test('fields move up and down, and back to where the schema has them', () => {
  const up = moveRow(null, INPUT, 1, -1)
  expect(up?.fields).toEqual([{ path: '/days' }])
  expect(paths(up)).toEqual(['/days', '/city', '/note'])
  expect(moveRow(up, INPUT, 0, 1)).toBeNull()
  expect(paths(moveRow(null, INPUT, 2, 1))).toEqual(['/city', '/days', '/note'])
})

test('sections come and go, and what else the spec says stays', () => {
  const section = newSection([], 'Section')
  expect(section).toEqual({ id: 'section_1', title: 'Section 1' })
  const spec = withSections({ version: 2, submit_label: 'Go', fields: [] }, INPUT, [section])
  expect(spec).toEqual({ version: 2, submit_label: 'Go', sections: [section], fields: [] })
  const inside = sayOf(spec, INPUT, '/city', { section: 'section_1', width: 'half' })
  expect(withSections(inside, INPUT, [])).toEqual({
    version: 2,
    submit_label: 'Go',
    fields: [{ path: '/city', width: 'half' }],
  })
})

test('what the spec says of a field that is gone can be dropped', () => {
  const spec = { version: 2, fields: [{ path: '/gone', width: 'half' }, { path: '/a/*/b' }] }
  expect(dropRow(spec, INPUT, '/gone')?.fields).toEqual([{ path: '/a/*/b' }])
})

test('an entry moves, and none falls off the end', () => {
  expect(moved(['a', 'b', 'c'], 0, 1)).toEqual(['b', 'a', 'c'])
  expect(moved(['a', 'b'], 0, -1)).toEqual(['a', 'b'])
})
