import { anchorsOf, headingsOf } from './headings'

test('headings get the anchors that links on GitHub use, one for each', () => {
  const texts = ['Test cases', '`function` and `internal`'.replaceAll('`', ''), 'A, b: c!', 'Größe']
  expect(anchorsOf(texts)).toEqual(['test-cases', 'function-and-internal', 'a-b-c', 'größe'])
  expect(anchorsOf(['Input', 'Output', 'Input'])).toEqual(['input', 'output', 'input-1'])
})

test('the headings of a page are those outside of code', () => {
  const page = '# Title\n\n## `http` [x](y.md)\n\n```sh\n## no heading\n```\n\n### More\n'
  expect(headingsOf(page)).toEqual([
    { id: 'http-x', level: 2, text: 'http x', line: 3 },
    { id: 'more', level: 3, text: 'More', line: 9 },
  ])
})
