import { isTranslated, translated } from './translated'

const tool = {
  name: 'Distance',
  description: 'How far it is.',
  i18n: { de: { name: 'Entfernung' }, 'de-AT': { description: 'Wia weit es is.' } },
  input_schema: {
    properties: {
      unit: {
        title: 'Unit',
        enum: ['m', 'km'],
        'x-i18n': { de: { title: 'Einheit', 'x-enum-labels': ['Meter', null] } },
      },
      deep: { items: { oneOf: [{ const: 1, title: 'One', 'x-i18n': { de: { title: 'Eins' } } }] } },
    },
    default: { title: 'stays', 'x-i18n': { de: { title: 'bleibt' } } },
  },
  output_sections: [{ key: 'a', label: 'All', i18n: { de: { label: 'Alles' } } }],
  form_spec: {
    title: 'Form',
    i18n: { de: { title: 'Formular' } },
    sections: [{ id: 's', title: 'Where', i18n: { de: { title: 'Wo' } } }],
    fields: [{ path: '/unit', help: 'Help', i18n: { fr: { help: 'Aide' } } }],
  },
  view_spec: { blocks: [{ key: 'a', label: 'All', i18n: { de: { label: 'Alles' } } }] },
}

test('every text that has a translation is replaced by it, and no other', () => {
  const shown = translated(tool, 'de')
  expect([shown.name, shown.description]).toEqual(['Entfernung', tool.description])
  const { unit, deep } = shown.input_schema.properties
  expect(unit).toMatchObject({ title: 'Einheit', enum: ['m', 'km'] })
  expect(unit).toHaveProperty('x-enum-labels', ['Meter', null])
  expect(deep.items.oneOf[0]?.title).toBe('Eins')
  expect(shown.input_schema.default).toEqual(tool.input_schema.default)
  expect(shown.output_sections[0]?.label).toBe('Alles')
  expect(shown.view_spec.blocks[0]?.label).toBe('Alles')
  const { title, sections, fields } = shown.form_spec
  expect([title, sections[0]?.title, fields[0]?.help]).toEqual(['Formular', 'Wo', 'Help'])
})

test('a page in another language shows the original', () => {
  expect(translated(tool, 'en')).toEqual(tool)
  expect([isTranslated(tool, 'de'), isTranslated(tool, 'en')]).toEqual([true, false])
})

test('the same tool in the same language is the same object', () => {
  expect(translated(tool, 'de')).toBe(translated(tool, 'de'))
  expect(translated(tool, 'de')).not.toBe(translated(tool, 'en'))
})

test('a region adds to its language', () => {
  vi.spyOn(navigator, 'languages', 'get').mockReturnValue(['de-AT'])
  const shown = translated({ ...tool }, 'de')
  expect([shown.name, shown.description]).toEqual(['Entfernung', 'Wia weit es is.'])
  vi.restoreAllMocks()
})
