import {
  expressionOf,
  expressionsAt,
  inOrder,
  inputNames,
  newStep,
  orderMoved,
  orderWithout,
  stepsOf,
  withOnError,
} from './steps'
import { isUntold } from './templates'
import { workerSnippet } from './worker-snippet'

test('a new step has an id of its own', () => {
  expect(newStep([])).toEqual({ id: 'step_1', tool: '', input: {} })
  expect(newStep([{ id: 'step_2' }]).id).toBe('step_3')
})

test('steps change their order, and nothing is lost at the ends', () => {
  expect(inOrder(['a', 'b', 'c'], orderMoved(3, 0, 1))).toEqual(['b', 'a', 'c'])
  expect(inOrder(['a', 'b', 'c'], orderMoved(3, 2, 0))).toEqual(['c', 'a', 'b'])
  expect(inOrder(['a', 'b'], orderMoved(2, 1, 2))).toEqual(['a', 'b'])
  expect(inOrder(['a', 'b', 'c'], orderWithout(3, 1))).toEqual(['a', 'c'])
})

test('only a fallback has a value beside it, and what is not known stays', () => {
  const step = { id: 'a', tool: 't', note: 1 }
  const fallback = withOnError(step, 'fallback')
  expect(fallback).toEqual({ ...step, on_error: 'fallback', fallback: null })
  expect(withOnError({ ...fallback, fallback: 7 }, 'continue')).toEqual({
    ...step,
    on_error: 'continue',
  })
  expect(withOnError(fallback, 'stop')).toEqual(step)
})

test('a step can say its inputs and what came before it', () => {
  expect(expressionsAt(['city', 'a b'], [{ id: 'first' }, {}])).toEqual([
    '{{ input.city }}',
    '{{ input["a b"] }}',
    '{{ steps.first.output }}',
  ])
  expect(expressionOf('x1')).toBe('{{ input.x1 }}')
})

test('what somebody wrote is read as far as it is one', () => {
  expect(stepsOf(null)).toEqual([])
  expect(stepsOf({ steps: [{ id: 'a' }, 3] })).toEqual([{ id: 'a' }, {}])
  expect(inputNames({ properties: { a: {}, b: {} } })).toEqual(['a', 'b'])
  expect(inputNames(true)).toEqual([])
})

test('only a schema that says nothing gives way to that of a built-in', () => {
  expect(isUntold({ type: 'object', properties: {}, additionalProperties: false })).toBe(true)
  expect(isUntold({ type: 'object', properties: { a: {} } })).toBe(false)
  expect(isUntold({ type: 'object', allOf: [] })).toBe(false)
})

test('the commands for a worker name the tool', () => {
  const text = workerSnippet('https://tools.example', 'office.ask')
  expect(text).toContain('https://tools.example/api/workers/stream?tools=office.ask"')
  expect(text).toContain('/tool-results')
})
