import type { TFunction } from 'i18next'

import { Problem } from '~/api/problem'
import { faultsOf, plainly } from './fault-words'

const t = ((key: string, values = {}) => {
  const said = Object.values(values)
  return said.length > 0 ? `${key} ${said.join('|')}` : key
}) as unknown as TFunction<'admin'>

test.each([
  ['/name', 'is needed', 'fault.needed'],
  ['/description', 'is needed: it tells people and models when to use the tool', 'fault.needed'],
  ['/name', 'has 1 to 200 bytes', 'fault.length 200'],
  ['/tags', 'has at most 50 words of 1 to 100 bytes', 'fault.words 50|100'],
  ['/timeout_ms', 'is a number from 1 to 86400000', 'fault.range 1|86400000'],
  ['/execution/max_concurrency', 'is at least 1', 'fault.least 1'],
  [
    '/implementation_type',
    '`http` tools cannot be made yet; this version makes internal tools',
    'fault.kind_later http|internal',
  ],
  ['/implementation/headers/key', 'is `***`, and nothing is stored there that', 'fault.secret'],
  ['/slug', 'there is a tool `a` already', 'fault.taken'],
  ['/implementation/url', 'is required', 'fault.needed'],
  ['/implementation/method', 'must be one of GET, POST', 'fault.one_of GET, POST'],
  ['/implementation/retry/max', 'must be a whole number from 0 to 5', 'fault.range 0|5'],
  ['/implementation/function_name', 'is needed: one of add, sub', 'fault.one_of add, sub'],
  ['/implementation/x', 'is not known; `pending_ttl_ms` is how long', 'fault.unknown'],
  ['/execution_spec/steps', 'is a list of 1 to 100 steps', 'fault.steps 100'],
  ['/execution_spec/steps/1/id', '`a` is the id of a step before', 'fault.step_taken a'],
  ['/execution_spec/steps/0/tool', 'is needed: the slug of a tool', 'fault.needed'],
  ['/aliases', '`a b`: a slug cannot contain', 'fault.alias a b|slug.character'],
  ['/required_permission', 'a permission cannot contain `X`', 'fault.permission'],
  [
    '/required_permission',
    'of a tool that is part of the program cannot be changed',
    'fault.of_program',
  ],
  ['/input_schema/properties/a', 'something new', 'something new'],
])('%s %s', (path, message, expected) => {
  expect(plainly(t, { path, message }, 'a')).toBe(expected)
})

test('what is wrong with a slug is said by our own rules', () => {
  expect(plainly(t, { path: '/slug', message: 'whatever' }, 'a b')).toBe('slug.character')
  expect(plainly(t, { path: '/slug', message: 'is needed' }, '')).toBe('slug.empty')
})

test('a name that is taken is a fault of the field it stands in', () => {
  const refused = (detail: string) => faultsOf(new Problem(409, 'CONFLICT', detail))[0]?.path
  expect(refused('there is a tool `a` already')).toBe('/slug')
  expect(refused('the name `a` belongs to another tool')).toBe('/aliases')
  expect(refused('something else')).toBeUndefined()
})
