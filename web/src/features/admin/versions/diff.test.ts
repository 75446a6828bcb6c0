import { type DiffRow, folded, sideBySide } from './diff'

const told = (rows: DiffRow[]) =>
  rows.map(({ kind, left, right, count }) =>
    kind === 'gap' ? `gap ${count}` : `${kind} ${left?.text ?? ''}|${right?.text ?? ''}`,
  )

test('equal texts have no changed line', () => {
  expect(told(sideBySide('a\nb', 'a\nb'))).toEqual(['same a|a', 'same b|b'])
})

test('a line that replaces another stands beside it', () => {
  expect(told(sideBySide('a\nb\nc', 'a\nx\nc'))).toEqual(['same a|a', 'changed b|x', 'same c|c'])
})

test('lines in between are found again', () => {
  expect(told(sideBySide('a\nb\nc\nd', 'b\nn\nc\ne\nf'))).toEqual([
    'removed a|',
    'same b|b',
    'added |n',
    'same c|c',
    'changed d|e',
    'added |f',
  ])
})

test('one text is the beginning of the other', () => {
  expect(told(sideBySide('a', 'a\nb'))).toEqual(['same a|a', 'added |b'])
  expect(told(sideBySide('a\na', 'a'))).toEqual(['same a|a', 'removed a|'])
})

test('every line of both is there, with its number', () => {
  const rows = sideBySide('1\n2\n3\n4', '2\n9\n4\n5')
  expect(rows.flatMap(({ left }) => left?.number ?? [])).toEqual([1, 2, 3, 4])
  expect(rows.flatMap(({ right }) => right?.text ?? [])).toEqual(['2', '9', '4', '5'])
})

test('long equal stretches fold', () => {
  const lines = Array.from({ length: 20 }, (_, n) => String(n))
  const after = lines.with(10, 'x')
  expect(told(folded(sideBySide(lines.join('\n'), after.join('\n'))))).toEqual([
    'gap 7',
    ...['7|7', '8|8', '9|9'].map((row) => `same ${row}`),
    'changed 10|x',
    ...['11|11', '12|12', '13|13'].map((row) => `same ${row}`),
    'gap 6',
  ])
})
