import type { Version } from '../types'
import { pointOf, pointsOf } from './points'

const entry = (kind: string, version: string, revision: number) =>
  ({ kind, version, revision, created_at: `${kind} ${revision}` }) as Version

test('saves that never ran can be compared with one another', () => {
  const points = pointsOf({ revision: 2 }, [entry('save', '1.0.0', 2), entry('save', '1.0.0', 1)])
  expect(points.now).toEqual([{ name: 'draft', revision: 2 }])
  expect(points.versions).toEqual([])
  expect(points.saves.map(({ name }) => name)).toEqual(['2', '1'])
})

test('what runs, what was saved last, every number and every save, newest first', () => {
  const entries = [
    entry('save', '1.1.0', 4),
    entry('publish', '1.1.0', 3),
    entry('version', '1.1.0', 3),
    entry('save', '1.0.0', 3),
    entry('publish', '1.0.0', 2),
    entry('save', '1.0.0', 2),
    entry('publish', '1.0.0', 1),
    entry('save', '1.0.0', 1),
  ]
  const points = pointsOf({ revision: 4 }, entries)
  expect(points.now).toEqual([
    { name: 'draft', revision: 4 },
    { name: 'live', revision: 3 },
  ])
  expect(points.versions).toEqual([
    { name: '1.1.0', revision: 3 },
    { name: '1.0.0', revision: 2 },
  ])
  expect(points.saves).toEqual([
    { name: '4', revision: 4, version: '1.1.0', created_at: 'save 4', published: false },
    { name: '3', revision: 3, version: '1.1.0', created_at: 'save 3', published: true },
    { name: '2', revision: 2, version: '1.0.0', created_at: 'save 2', published: true },
    { name: '1', revision: 1, version: '1.0.0', created_at: 'save 1', published: true },
  ])
  expect(pointOf(points, '1.0.0')?.revision).toBe(2)
  expect(pointOf(points, '3')?.revision).toBe(3)
})

test('a revision of an address may be older than what was read', () => {
  const points = pointsOf({ revision: 300 }, [entry('save', '1.0.0', 300)])
  expect(pointOf(points, '7')).toEqual({ name: '7', revision: 7 })
  for (const none of ['0', '-1', '1.0.0', 'live', 'x']) {
    expect(pointOf(points, none)).toBeUndefined()
  }
})
