import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { idOf, useEditing, usePart } from '../editor/context'
import { focusSoon } from '../focus-soon'
import { FieldRow } from './field-row'
import { dropRow, moveRow, rowsOf, sayOf, sectionsOf, withSections } from './form-layout'
import { SectionRows } from './section-rows'

/** The layout of the form: its sections, and every field with its place and its looks. */
export function FormPart() {
  const { t } = useTranslation('admin')
  const { definition, faults } = useEditing()
  const { value, set, isFixed } = usePart('form_spec')
  const [open, setOpen] = useState<string>()
  const input = definition.input_schema
  const rows = rowsOf(value, input)
  const sections = sectionsOf(value)
  const own = faults.filter(
    ({ path }) => path.startsWith('/form_spec') && !path.startsWith('/form_spec/fields/'),
  )
  return (
    <section
      id={idOf('/form_spec')}
      tabIndex={-1}
      aria-labelledby="form-layout-title"
      className="grid min-w-0 gap-4 outline-none"
    >
      <h2 id="form-layout-title" className="font-semibold">
        {t('schema.form_spec')}
      </h2>
      {own.map(({ path, message }) => (
        <p key={path + message} className="text-xs text-bad">
          <code>{path.slice('/form_spec/'.length)}</code> {message}
        </p>
      ))}
      <SectionRows
        sections={sections}
        isFixed={isFixed}
        onChange={(next) => set(withSections(value, input, next))}
      />
      <div className="grid min-w-0 gap-2">
        <h3 className="font-medium">{t('layout.fields')}</h3>
        <p className="text-xs text-muted">
          {t(rows.length === 0 ? 'layout.no_fields' : 'layout.fields_hint')}
        </p>
        <ol aria-label={t('layout.fields')} className="grid min-w-0 gap-2">
          {rows.map((row, index) => (
            <li key={row.path} className="min-w-0">
              <FieldRow
                row={row}
                index={index}
                count={rows.length}
                sections={sections}
                isFixed={isFixed}
                isOpen={open === row.path}
                onOpen={(isOpen) => setOpen(isOpen ? row.path : undefined)}
                onSay={(words) => set(sayOf(value, input, row.path, words))}
                onMove={(by) => {
                  if (!rows[index + by]) return
                  set(moveRow(value, input, index, by))
                  focusSoon(idOf(`/form_spec/fields/${index + by}`))
                }}
                onDrop={() => {
                  set(dropRow(value, input, row.path))
                  focusSoon(idOf('/form_spec'))
                }}
              />
            </li>
          ))}
        </ol>
      </div>
    </section>
  )
}
