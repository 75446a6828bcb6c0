import type { Run } from '~/api/runs'
import { partsOf, readExpectation, typedOf } from './expect'
import { caseOf } from './of-run'
import { stateOf } from './state'

test('an expectation is read as it was typed, and large numbers keep their digits', () => {
  const expect_ = { output: { id: 12345678901234567890n }, status: 'error', jq: '.a == 1' }
  const typed = typedOf(expect_)
  expect(typed.output).toContain('12345678901234567890')
  expect(readExpectation(typed)).toEqual({ expect: expect_, broken: [] })
})

test('what is empty is not looked at, and what is no JSON is told', () => {
  const typed = { ...typedOf({}), error_code: ' DENIED ', contains: '{', output: ' ' }
  expect(readExpectation(typed)).toEqual({
    expect: { error_code: 'DENIED' },
    broken: ['contains'],
  })
  expect(partsOf({})).toEqual(['status'])
  expect(partsOf({ jq: 'true', contains: {} })).toEqual(['contains', 'jq'])
})

test('a run becomes a test case that expects what came of it', () => {
  const run = { input: { a: 1 }, status: 'success', output: { b: 2 } } as Run
  expect(caseOf(run, 'it')).toEqual({ name: 'it', input: { a: 1 }, expect: { contains: { b: 2 } } })
  expect(caseOf({ ...run, output: [1] }, 'it').expect).toEqual({ output: [1] })
  expect(caseOf({ ...run, output: null }, 'it').expect).toEqual({ status: 'success' })
  const failed = { ...run, status: 'error', error_code: 'TIMEOUT' } as Run
  expect(caseOf(failed, 'it').expect).toEqual({ status: 'error', error_code: 'TIMEOUT' })
})

test('a result counts for the content that it came of', () => {
  const last = (content_hash: string, passed: boolean) => ({
    last_result: { content_hash, passed, at: '' },
  })
  expect(stateOf({}, 'x')).toBe('not_run')
  expect(stateOf(last('x', true), 'x')).toBe('passed')
  expect(stateOf(last('x', false), 'x')).toBe('failed')
  expect(stateOf(last('old', true), 'x')).toBe('outdated')
  const now = { id: '', name: '', passed: false, diff: [] }
  expect(stateOf(last('x', true), 'x', now)).toBe('failed')
})
