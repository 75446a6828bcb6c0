import { Problem } from '~/api/problem'
import { refusalOf } from './use-publish'

const problem = (status: number, code: string, members = {}, path?: string) =>
  new Problem(
    status,
    code,
    'why',
    path === undefined ? [] : [{ path, message: 'wrong' }],
    undefined,
    {},
    members,
  )

test('each refusal has its place', () => {
  expect(refusalOf(undefined)).toEqual({})
  const comparison = { breaking: true, required_bump: 'major', changes: [] }
  expect(refusalOf(problem(409, 'BREAKING_CHANGE', comparison)).breaking).toEqual(comparison)
  const report = { passed: 0, failed: 1, items: [] }
  expect(refusalOf(problem(409, 'TESTS_FAILED', report)).tests).toEqual(report)
  expect(refusalOf(problem(412, 'PRECONDITION_FAILED'))).toEqual({ isStale: true })
  expect(Object.keys(refusalOf(problem(409, 'CONFLICT')))).toEqual(['number'])
  expect(Object.keys(refusalOf(problem(422, 'INVALID_PARAMS', {}, '/version')))).toEqual(['number'])
  expect(Object.keys(refusalOf(problem(422, 'INVALID_PARAMS', {}, '/name')))).toEqual(['draft'])
  expect(Object.keys(refusalOf(problem(503, 'UNAVAILABLE')))).toEqual(['other'])
  expect(Object.keys(refusalOf(new TypeError('no')))).toEqual(['other'])
})
