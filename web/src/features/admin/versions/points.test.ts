import type { Version } from '../types'
import { pointsOf } from './points'

const entry = (kind: string, version: string, revision: number) =>
  ({ kind, version, revision }) as Version

test('a draft that never ran can be compared with nothing', () => {
  expect(pointsOf({ revision: 2 }, [entry('save', '1.0.0', 2), entry('save', '1.0.0', 1)])).toEqual(
    [{ name: 'draft', revision: 2 }],
  )
})

test('what runs, what was saved last, and every number, newest first', () => {
  const entries = [
    entry('save', '1.1.0', 4),
    entry('publish', '1.1.0', 3),
    entry('version', '1.1.0', 3),
    entry('save', '1.0.0', 3),
    entry('publish', '1.0.0', 2),
    entry('publish', '1.0.0', 1),
  ]
  expect(pointsOf({ revision: 4 }, entries)).toEqual([
    { name: 'draft', revision: 4 },
    { name: 'live', revision: 3 },
    { name: '1.1.0', revision: 3 },
    { name: '1.0.0', revision: 2 },
  ])
})
