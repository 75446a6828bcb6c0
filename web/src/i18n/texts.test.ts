const texts = import.meta.glob<Record<string, unknown>>('./{en,de}/*.json', {
  eager: true,
  import: 'default',
})

const files = (language: string) =>
  Object.keys(texts)
    .filter((file) => file.startsWith(`./${language}/`))
    .map((file) => file.slice(`./${language}/`.length))
    .sort()

function keys(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, inner]) => keys(inner, `${path}/${key}`))
}

test('every language has every file', () => {
  expect(files('de')).toEqual(files('en'))
})

test.each(files('en'))('every language has every text of %s', (file) => {
  expect(keys(texts[`./de/${file}`]).sort()).toEqual(keys(texts[`./en/${file}`]).sort())
})
