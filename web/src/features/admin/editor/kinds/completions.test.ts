import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'

import { completions, membersAt } from './completions'

const SCHEMA = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    'not a name': {},
    lines: {
      type: 'array',
      items: { type: 'object', properties: { price: {}, who: { properties: { name: {} } } } },
    },
  },
}

const labels = (doc: string) => {
  const context = new CompletionContext(EditorState.create({ doc }), doc.length, false)
  return completions(() => SCHEMA)(context)?.options.map(({ label }) => label)
}

test('what the schema describes is offered behind the input', () => {
  expect(labels('return input.')).toEqual(['city', 'lines'])
  expect(labels('return input.ci')).toEqual(['city', 'lines'])
  expect(labels('f(input.lines[0].')).toEqual(['price', 'who'])
  expect(labels('input.lines[0].who?.')).toEqual(['name'])
  expect(labels('input.nothing.')).toEqual([])
  expect(labels('con')).toContain('console.log')
  expect(labels('1 + ')).toBeUndefined()
})

test('a schema that describes nothing offers nothing', () => {
  expect(membersAt({}, 'input.')).toEqual([])
})
