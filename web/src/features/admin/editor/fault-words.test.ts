import type { TFunction } from 'i18next'

import { Problem } from '~/api/problem'
import { faultsOf, plainly } from './fault-words'

const t = ((key: string, values = {}) => {
  const said = Object.values(values).filter((value) => value !== undefined)
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
  ['/implementation/url', 'begins with `https://` or `http://`', 'fault.url_scheme'],
  [
    '/implementation/url',
    'scheme, host and port are fixed; an expression stands behind the first `/` or `?`',
    'fault.url_fixed',
  ],
  ['/implementation/url', 'has a user name in it; credentials go into a header', 'fault.url_user'],
  ['/implementation/url', 'a `{{` has no `}}`', 'fault.expression_open {{|}}'],
  [
    '/implementation/headers/a b',
    'the name of a header has characters that cannot be sent',
    'fault.header_name',
  ],
  ['/implementation/timeout', 'must be a positive whole number of milliseconds', 'fault.positive'],
  [
    '/execution_spec/steps/0/tool',
    '`a` is this tool, which would call itself',
    'fault.calls_itself a',
  ],
  ['/execution_spec/steps/0/tool', 'there is no tool `b`', 'fault.no_tool b'],
  ['/execution_spec/steps/0/input', 'there is no step `x` before it', 'fault.no_step x'],
  ['/execution_spec/steps/0/tool', 'a slug has 1 to 128 characters, not 0', 'fault.no_slug'],
  [
    '/execution_spec/steps/0/when',
    'an expression has at most 400 names, values and signs',
    'fault.expression_long 400',
  ],
  ['/implementation/body', 'has more than 64 of `elif`', 'fault.too_many 64|`elif`'],
  [
    '/execution_spec/steps/0/when',
    'unexpected end of input, expected expression',
    'fault.condition unexpected end of input, expected expression',
  ],
  [
    '/execution_spec/steps/0/when',
    '`city` is not known here; `input` or `steps` is',
    'fault.name_unknown city|`input`, `steps`',
  ],
  [
    '/execution_spec/steps/0/input/city',
    'unknown filter: filter upcase is unknown',
    'fault.expression unknown filter: filter upcase is unknown',
  ],
  [
    '/implementation/response',
    'line 1, column 3: expected term, but the filter ends',
    'fault.jq_ends 1|3',
  ],
  [
    '/implementation/response',
    'line 2, column 1: there is no filter `foo` with 2 arguments',
    'fault.jq_unknown 2|1|foo',
  ],
  [
    '/implementation/response',
    'line 1, column 2: expected term, found `)`',
    'fault.jq_found 1|2|)',
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
