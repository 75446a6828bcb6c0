import type { Operation } from './model'
import { curlOf, missingIn, requestOf } from './request'

const OPERATION: Operation = {
  id: 'change_thing',
  method: 'patch',
  path: '/api/things/{id}',
  tag: 'things',
  summary: '',
  description: '',
  parameters: [
    { name: 'id', in: 'path', required: true },
    { name: 'q', in: 'query' },
    { name: 'If-Match', in: 'header' },
  ],
  body: { required: true, schema: {} },
  answers: [],
  isOpen: false,
}
const FILLED = {
  values: { 'path id': 'a/b?c', 'query q': 'x & y', 'header If-Match': '"1"' },
  body: `{ "it's": 1 }`,
}

test('every value goes to its place, and cannot leave it', () => {
  expect(requestOf(OPERATION, FILLED)).toEqual({
    method: 'PATCH',
    path: '/api/things/a%2Fb%3Fc?q=x+%26+y',
    headers: { 'If-Match': '"1"', 'Content-Type': 'application/json' },
    body: FILLED.body,
  })
})

test('what is empty is not sent, and what is needed is told', () => {
  const empty = { values: { 'query q': '' }, body: ' ' }
  expect(requestOf(OPERATION, empty)).toEqual({
    method: 'PATCH',
    path: '/api/things/{id}',
    headers: {},
    body: undefined,
  })
  expect(missingIn(OPERATION, empty)).toEqual(['path id'])
  expect(missingIn(OPERATION, FILLED)).toEqual([])
})

test('a shell reads every word of the command as one', () => {
  expect(curlOf(OPERATION, FILLED, 'http://h')).toBe(
    [
      `curl -s -X PATCH 'http://h/api/things/a%2Fb%3Fc?q=x+%26+y'`,
      `-H "Authorization: Bearer $TOOLWRIGHT_KEY"`,
      `-H 'If-Match: "1"'`,
      `-H 'Content-Type: application/json'`,
      `-d '{ "it'\\''s": 1 }'`,
    ].join(' \\\n  '),
  )
})
