import { Plus } from 'lucide-react'
import { useId } from 'react'

import { text } from '~/features/form/schema/json'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Field, Input } from '~/kit/field'
import { Switch } from '~/kit/switch'
import { focusSoon } from '../focus-soon'
import { MoveButtons } from '../move-buttons'
import { type FormSection, moved, newSection } from './form-layout'

interface Props {
  sections: FormSection[]
  isFixed: boolean
  onChange: (sections: FormSection[]) => void
}

/** The sections of the form, in their order. */
export function SectionRows({ sections, isFixed, onChange }: Props) {
  const { t } = useTranslation('admin')
  const id = useId()
  return (
    <div className="grid min-w-0 gap-2">
      <h3 className="font-medium">{t('layout.sections')}</h3>
      {sections.length === 0 && <p className="text-xs text-muted">{t('layout.no_sections')}</p>}
      <ol aria-label={t('layout.sections')} className="grid min-w-0 gap-2">
        {sections.map((section, index) => (
          <li key={section.id} className="min-w-0 rounded-md border border-line p-3">
            <Row
              id={`${id}-${section.id}`}
              section={section}
              index={index}
              count={sections.length}
              isFixed={isFixed}
              onChange={(changed) => onChange(sections.with(index, changed))}
              onMove={(by) => {
                onChange(moved(sections, index, by))
                focusSoon(`${id}-${section.id}`)
              }}
              onRemove={() => {
                onChange(sections.toSpliced(index, 1))
                focusSoon(`${id}-add`)
              }}
            />
          </li>
        ))}
      </ol>
      {!isFixed && (
        <Button
          id={`${id}-add`}
          size="small"
          className="justify-self-start"
          onClick={() => {
            const added = newSection(sections, t('layout.section'))
            onChange([...sections, added])
            focusSoon(`${id}-${added.id}`)
          }}
        >
          <Plus aria-hidden />
          {t('layout.add_section')}
        </Button>
      )}
    </div>
  )
}

interface RowProps {
  id: string
  section: FormSection
  index: number
  count: number
  isFixed: boolean
  onChange: (section: FormSection) => void
  onMove: (by: -1 | 1) => void
  onRemove: () => void
}

function Row({ id, section, index, count, isFixed, onChange, onMove, onRemove }: RowProps) {
  const { t } = useTranslation('admin')
  const title = text(section.title) ?? ''
  return (
    <div className="grid min-w-0 gap-3">
      <div className="grid min-w-0 gap-3 sm:grid-cols-2">
        <Field id={id} label={t('layout.section_title')}>
          <Input
            id={id}
            value={title}
            disabled={isFixed}
            onChange={({ target }) => onChange({ ...section, title: target.value })}
          />
        </Field>
        <Field id={`${id}-text`} label={t('layout.section_text')}>
          <Input
            id={`${id}-text`}
            value={text(section.description) ?? ''}
            disabled={isFixed}
            onChange={({ target }) => {
              const { description: _, ...rest } = section
              onChange(
                target.value ? { ...section, description: target.value } : (rest as FormSection),
              )
            }}
          />
        </Field>
      </div>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <label className="flex items-center gap-2">
          <Switch
            checked={section.collapsed === true}
            disabled={isFixed}
            aria-label={t('layout.collapsed')}
            onChange={(collapsed) => {
              const { collapsed: _, ...rest } = section
              onChange(collapsed ? { ...section, collapsed } : (rest as FormSection))
            }}
          />
          {t('layout.collapsed')}
        </label>
        {!isFixed && (
          <span className="flex">
            <MoveButtons
              name={title || section.id}
              isFirst={index === 0}
              isLast={index === count - 1}
              onMove={onMove}
              onRemove={onRemove}
            />
          </span>
        )}
      </div>
    </div>
  )
}
