import { diff } from './diff'

test('equal values differ nowhere, whatever the order of their keys', () => {
  expect(diff({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 })).toEqual([])
})

test('a changed, an added and a removed field are told apart', () => {
  expect(diff({ a: 1, b: 2 }, { a: 3, c: null })).toEqual([
    { path: '/a', before: 1, after: 3 },
    { path: '/b', before: 2, after: undefined },
    { path: '/c', before: undefined, after: null },
  ])
})

test('only what differs inside is named', () => {
  const before = { order: { items: [{ count: 1 }, { count: 2 }] } }
  const after = { order: { items: [{ count: 1 }, { count: 5 }, { count: 9 }] } }
  expect(diff(before, after)).toEqual([
    { path: '/order/items/1/count', before: 2, after: 5 },
    { path: '/order/items/2', before: undefined, after: { count: 9 } },
  ])
})

test('a list does not become an object unseen', () => {
  expect(diff({ a: [1] }, { a: { 0: 1 } })).toEqual([{ path: '/a', before: [1], after: { 0: 1 } }])
  expect(diff({ a: null }, { a: {} })).toEqual([{ path: '/a', before: null, after: {} }])
})

test('signs that pointers use are escaped', () => {
  expect(diff({ 'a/b~c': 1 }, { 'a/b~c': 2 })[0]?.path).toBe('/a~1b~0c')
})

test('a key that objects inherit is a key like any other', () => {
  expect(diff({}, JSON.parse('{"constructor": 1}'))).toEqual([
    { path: '/constructor', before: undefined, after: 1 },
  ])
})

test('values of other types differ although they look alike', () => {
  expect(diff({ a: 1 }, { a: '1' })).toEqual([{ path: '/a', before: 1, after: '1' }])
})
