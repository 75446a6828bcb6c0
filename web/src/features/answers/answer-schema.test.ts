import { isOpen } from './answer-queries'
import { answerSchema, firstAnswer } from './answer-schema'

test('without a schema of the tool anything is an answer', () => {
  expect(answerSchema(null)).toEqual({})
  expect(answerSchema({ type: 'string' })).toEqual({ type: 'string' })
})

test('only an answer that is an object starts as one', () => {
  expect(firstAnswer({ type: 'object' })).toEqual({})
  expect(firstAnswer({})).toEqual({})
  expect(firstAnswer({ type: 'string' })).toBeUndefined()
})

test('an answer is taken also when nobody waits for it any more', () => {
  expect(['waiting', 'pending', 'resolved'].map((status) => isOpen({ status }))).toEqual([
    true,
    true,
    false,
  ])
})
