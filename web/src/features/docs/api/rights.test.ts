import { readFileSync } from 'node:fs'

import { type Description, operationsOf } from './model'
import { rightsOf } from './rights'

const PAGE = readFileSync('../docs/rights.md', 'utf8')

test('the page of rights has a row for every operation that needs credentials', () => {
  const api: Description = JSON.parse(readFileSync('../openapi/toolwright.json', 'utf8'))
  for (const { method, path } of operationsOf(api)) {
    expect(rightsOf(PAGE, method, path).length, `${method} ${path}`).toBeGreaterThan(3)
  }
})

test('a row tells what each role gets', () => {
  const rights = new Map(rightsOf(PAGE, 'post', '/api/tools'))
  expect(rights.get('builder')).toBe('yes')
  expect(rights.get('viewer')).toBe('no (403)')
  expect(rights.has('nobody')).toBe(false)
  expect(rightsOf(PAGE, 'get', '/api/nothing')).toEqual([])
})
