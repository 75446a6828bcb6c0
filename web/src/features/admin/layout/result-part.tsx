import { Plus } from 'lucide-react'
import { useId } from 'react'

import { isJson, type Json, text } from '~/features/form/schema/json'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Field, Input, Select } from '~/kit/field'
import { idOf, useEditing, usePart } from '../editor/context'
import { focusSoon } from '../focus-soon'
import { MoveButtons } from '../move-buttons'
import { membersOf } from '../schema/members'
import { moved } from './form-layout'

const TYPES = ['summary', 'table', 'chart', 'radar', 'ranking', 'custom']

/** The sections of the result: which member of the output is shown how. */
export function ResultPart() {
  const { t } = useTranslation('admin')
  const { definition, faults } = useEditing()
  const { value, set, isFixed } = usePart('output_sections')
  const sections = value.map((section) => (isJson(section) ? section : {}))
  const output = definition.output_schema
  const members = output ? membersOf(output) : []
  const keys = members.map(({ name }) => name)
  const listId = useId()
  const id = idOf('/output_sections')
  const place = (index: number) => `/output_sections/${index}`
  const own = faults.filter(({ path }) => path === '/output_sections')
  const add = () => {
    const used = sections.map(({ key }) => key)
    const next = members.find(({ name }) => !used.includes(name))
    const label = next && (text(next.schema.title) ?? next.name)
    set([...value, { key: next?.name ?? '', label: label ?? '', type: 'summary' }])
    focusSoon(idOf(place(sections.length)))
  }
  return (
    <section
      id={id}
      tabIndex={-1}
      aria-labelledby="result-layout-title"
      className="grid min-w-0 gap-3 outline-none"
    >
      <h2 id="result-layout-title" className="font-semibold">
        {t('schema.output_sections')}
      </h2>
      <p className="text-xs text-muted">
        {t(definition.view_spec === null ? 'layout.result_hint' : 'layout.result_view')}
      </p>
      {own.map(({ message }) => (
        <p key={message} className="text-xs text-bad">
          {message}
        </p>
      ))}
      <datalist id={listId}>
        {keys.map((key) => (
          <option key={key} value={key} />
        ))}
      </datalist>
      <ol aria-label={t('schema.output_sections')} className="grid min-w-0 gap-2">
        {sections.map((section, index) => (
          // The place, not the key: that changes while it is typed.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} className="min-w-0 rounded-md border border-line p-3">
            <Row
              place={place(index)}
              section={section}
              index={index}
              count={sections.length}
              list={listId}
              isFixed={isFixed}
              onChange={(changed) => set(value.with(index, changed))}
              onMove={(by) => {
                if (!sections[index + by]) return
                set(moved(value, index, by))
                focusSoon(idOf(place(index + by)))
              }}
              onRemove={() => {
                set(value.toSpliced(index, 1))
                focusSoon(`${id}-add`)
              }}
            />
          </li>
        ))}
      </ol>
      {!isFixed && (
        <Button id={`${id}-add`} size="small" className="justify-self-start" onClick={add}>
          <Plus aria-hidden />
          {t('layout.add_section')}
        </Button>
      )}
    </section>
  )
}

interface RowProps {
  place: string
  section: Json
  index: number
  count: number
  list: string
  isFixed: boolean
  onChange: (section: Json) => void
  onMove: (by: -1 | 1) => void
  onRemove: () => void
}

function Row(props: RowProps) {
  const { place, section, index, count, list, isFixed, onChange, onMove, onRemove } = props
  const { t } = useTranslation('admin')
  const { faults } = useEditing()
  const id = idOf(place)
  const here = faults.filter(({ path }) => path === place || path.startsWith(`${place}/`))
  const type = text(section.type) ?? ''
  const types = type === '' || TYPES.includes(type) ? TYPES : [type, ...TYPES]
  return (
    <div
      className="grid min-w-0 gap-3"
      onKeyDown={(event) => {
        if (!event.altKey || isFixed) return
        if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
        event.preventDefault()
        onMove(event.key === 'ArrowUp' ? -1 : 1)
      }}
    >
      <fieldset disabled={isFixed} className="grid min-w-0 gap-3 sm:grid-cols-3">
        <Field id={id} label={t('layout.key')}>
          <Input
            id={id}
            className="font-mono"
            list={list}
            value={text(section.key) ?? ''}
            onChange={({ target }) => onChange({ ...section, key: target.value })}
          />
        </Field>
        <Field id={`${id}-label`} label={t('layout.section_title')}>
          <Input
            id={`${id}-label`}
            value={text(section.label) ?? ''}
            onChange={({ target }) => onChange({ ...section, label: target.value })}
          />
        </Field>
        <Field id={`${id}-type`} label={t('schema.variant')}>
          <Select
            id={`${id}-type`}
            value={type}
            onChange={({ target }) => onChange({ ...section, type: target.value })}
          >
            {types.map((one) => (
              <option key={one} value={one}>
                {t(`layout.type_${one}`, { defaultValue: one })}
              </option>
            ))}
          </Select>
        </Field>
      </fieldset>
      {here.map(({ path, message }) => (
        <p key={path + message} className="text-xs text-bad">
          <code>{path.slice(place.length + 1)}</code> {message}
        </p>
      ))}
      {!isFixed && (
        <span className="flex justify-end">
          <MoveButtons
            name={text(section.label) || t('layout.section_number', { number: index + 1 })}
            isFirst={index === 0}
            isLast={index === count - 1}
            onMove={onMove}
            onRemove={onRemove}
            hasKeys
          />
        </span>
      )}
    </div>
  )
}
