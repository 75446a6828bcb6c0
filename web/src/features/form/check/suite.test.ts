import { readdirSync, readFileSync } from 'node:fs'

import { validator } from './adapter'
import { CHECKED } from './formats'

// The JSON Schema Test Suite, as the server runs it, through what the form uses. Where the form
// differs it lets a value pass or refuses it wrongly, so the list below is held to be exactly that.

const SUITE = '../crates/tw-schema/tests/suite'

/** Groups whose schema the server refuses to save: it refers to a document that would have to be fetched. */
const REFUSED_BY_SERVER = [
  /^dynamicRef: (strict-tree schema|tests for implementation dynamic anchor)/,
  /^dynamicRef: \$ref and \$dynamicAnchor are independent of order/,
  /^dynamicRef: \$ref to \$dynamicRef finds detached \$dynamicAnchor/,
  /^refRemote: /,
]

/** Formats are checked, as on the server, where the specification has them as notes. */
const asNote = (name: string) =>
  `format: ${name} format: invalid ${name} string is only an annotation by default`

/** Where the form passes what the server refuses, or the other way round. */
const DIFFERENT = [
  // Dynamic references are not followed; the server has the last word.
  'dynamicRef: A $dynamicRef to a $dynamicAnchor in the same schema resource behaves like a normal $ref to an $anchor: An array containing non-strings is invalid',
  'dynamicRef: A $dynamicRef to an $anchor in the same schema resource behaves like a normal $ref to an $anchor: An array containing non-strings is invalid',
  'dynamicRef: A $ref to a $dynamicAnchor in the same schema resource behaves like a normal $ref to an $anchor: An array containing non-strings is invalid',
  'dynamicRef: A $dynamicRef resolves to the first $dynamicAnchor still in scope that is encountered when the schema is evaluated: An array containing non-strings is invalid',
  'dynamicRef: A $dynamicRef without anchor in fragment behaves identical to $ref: An array of strings is invalid',
  "dynamicRef: A $dynamicRef with intermediate scopes that don't include a matching $dynamicAnchor does not affect dynamic scope resolution: An array containing non-strings is invalid",
  'dynamicRef: A $dynamicRef that initially resolves to a schema with a matching $dynamicAnchor resolves to the first $dynamicAnchor in the dynamic scope: The recursive part is not valid against the root',
  'dynamicRef: multiple dynamic paths to the $dynamicRef keyword: number list with string values',
  'dynamicRef: multiple dynamic paths to the $dynamicRef keyword: string list with number values',
  'dynamicRef: after leaving a dynamic scope, it is not used by a $dynamicRef: string matches /$defs/thingy, but the $dynamicRef does not stop here',
  'dynamicRef: after leaving a dynamic scope, it is not used by a $dynamicRef: first_scope is not in dynamic scope for the $dynamicRef',
  'dynamicRef: $dynamicRef points to a boolean schema: follow $dynamicRef to a false schema',
  'dynamicRef: $dynamicRef skips over intermediate resources - direct reference: string property fails',
  'unevaluatedItems: unevaluatedItems with $dynamicRef: with no unevaluated items',
  'unevaluatedProperties: unevaluatedProperties with $dynamicRef: with no unevaluated properties',
  // The meta-schemas are not in the page.
  'defs: validate definition against metaschema: invalid definition schema',
  'ref: remote ref, containing refs itself: remote ref invalid',
  // A property of this name cannot be set in an object of JavaScript.
  // Two resources in one document, of which the inner has its own identifier and anchors.
  'ref: order of evaluation: $id and $anchor and $ref: data is valid against first definition',
  // `$schema` is ignored, as on the server.
  'vocabulary: schema that uses custom metaschema with with no validation vocabulary: no validation: invalid number, but it still validates',
]

interface Group {
  description: string
  schema: object
  tests: { description: string; data: unknown; valid: boolean }[]
}

function run(folder: string) {
  let passed = 0
  const different: string[] = []
  for (const file of readdirSync(`${SUITE}/${folder}`)) {
    const groups: Group[] = JSON.parse(readFileSync(`${SUITE}/${folder}/${file}`, 'utf8'))
    for (const { description, schema, tests } of groups) {
      const group = `${file.replace('.json', '')}: ${description}`
      if (folder === 'draft2020-12' && REFUSED_BY_SERVER.some((name) => name.test(group))) continue
      for (const test of tests) {
        const { errors = [] } = validator.rawValidation(schema, test.data)
        if ((errors.length === 0) === test.valid) passed++
        else different.push(`${group}: ${test.description}`)
      }
    }
  }
  return { passed, different: different.sort() }
}

test('required tests pass but for what is listed', () => {
  const { passed, different } = run('draft2020-12')
  const noted = CHECKED.map(asNote)
  expect(different).toEqual([...DIFFERENT, ...noted].sort())
  // So that a folder that was not found does not pass.
  expect(passed).toBeGreaterThan(1_100)
})

test('every format that the server checks is checked as the suite says', () => {
  const files = readdirSync(`${SUITE}/format`).map((file) => file.replace('.json', ''))
  expect(files.sort()).toEqual([...CHECKED].sort())
  const { passed, different } = run('format')
  expect(different).toEqual([])
  expect(passed).toBe(408)
})
