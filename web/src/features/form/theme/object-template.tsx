import { canExpand, type ObjectFieldTemplateProps } from '@rjsf/utils'
import { Plus, X } from 'lucide-react'
import { type ReactNode, useContext } from 'react'
import { useTranslation } from 'react-i18next'

import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { Star } from '../controls/choose'
import { isJson } from '../schema/json'
import type { Section } from '../schema/spec'
import { RemoveContext } from './object-field'
import { lookOf, useScope } from './scope'

/** The fields of an object. The outermost has no frame; an item of a list has the item's. */
export function ObjectTemplate(props: ObjectFieldTemplateProps) {
  const { t } = useTranslation('form')
  const { title, description, fieldPathId, schema, required, properties } = props
  const remove = useContext(RemoveContext)
  const isRoot = fieldPathId.path.length === 0 || fieldPathId.path.at(-1) === 'XxxOf'
  const isItem = typeof fieldPathId.path.at(-1) === 'number'
  if ((schema.oneOf || schema.anyOf) && properties.length === 0) return null
  if (isRoot) return <Content {...props} />
  return (
    <fieldset
      className={cn(
        'grid min-w-0 gap-4',
        !isItem && 'rounded-lg border border-line px-4 pt-2 pb-4',
      )}
    >
      <legend className={cn('max-w-full px-1 font-medium break-words', isItem && 'sr-only')}>
        {title}
        {required && <Star />}
      </legend>
      {remove && (
        <div className="-my-2 flex justify-end">
          <Button
            size="small"
            tone="quiet"
            aria-label={t('list.remove_named', { name: title })}
            onClick={remove}
          >
            <X aria-hidden />
            {t('list.remove')}
          </Button>
        </div>
      )}
      {description && !isItem && <p className="text-xs break-words text-muted">{description}</p>}
      <Content {...props} />
    </fieldset>
  )
}

function Content(props: ObjectFieldTemplateProps) {
  const { t } = useTranslation('form')
  const { properties, uiSchema, schema, formData, readonly, onAddProperty, title } = props
  const { sections } = useScope()
  const sectionOf = (name: string) => lookOf(uiSchema?.[name]).section
  const inside = (id: string | undefined) =>
    properties.filter(({ name }) => sectionOf(name) === id).map(({ content }) => content)
  const used = sections.filter(({ id }) => inside(id).length > 0)
  const loose = inside(undefined)
  const known = properties.map(({ name }) => name)
  const other = isJson(formData)
    ? Object.keys(formData).filter((name) => !known.includes(name))
    : []
  return (
    <div className="grid min-w-0 gap-5">
      {loose.length > 0 && <div className="grid grid-cols-6 gap-x-4 gap-y-5">{loose}</div>}
      {used.map((section) => (
        <SectionBox key={section.id} section={section}>
          {inside(section.id)}
        </SectionBox>
      ))}
      {canExpand(schema, uiSchema, formData) && !readonly && (
        <div>
          <Button size="small" onClick={onAddProperty}>
            <Plus aria-hidden />
            {t('map.add', { title })}
          </Button>
        </div>
      )}
      {readonly && <Unshown names={other} value={formData} />}
    </div>
  )
}

function SectionBox({ section, children }: { section: Section; children: ReactNode }) {
  const { title, description, collapsed } = section
  const content = (
    <div className="grid gap-4">
      {description && <p className="text-xs break-words text-muted">{description}</p>}
      <div className="grid grid-cols-6 gap-x-4 gap-y-5">{children}</div>
    </div>
  )
  if (collapsed) {
    return (
      <details className="min-w-0 rounded-lg border border-line px-4 py-3">
        <summary className="cursor-pointer font-medium break-words">{title}</summary>
        <div className="pt-4">{content}</div>
      </details>
    )
  }
  return (
    <fieldset className="min-w-0 rounded-lg border border-line px-4 pt-2 pb-4">
      <legend className="max-w-full px-1 font-medium break-words">{title}</legend>
      {content}
    </fieldset>
  )
}

/** Who decides about a value has to see all of it, also what the schema does not speak of. */
function Unshown({ names, value }: { names: string[]; value: unknown }) {
  const { t } = useTranslation('form')
  if (names.length === 0 || !isJson(value)) return null
  const rest = Object.fromEntries(names.map((name) => [name, value[name]]))
  return (
    <div className="grid min-w-0 gap-1.5">
      <p className="font-medium">{t('unshown')}</p>
      <pre
        className="overflow-x-auto rounded-md bg-sunken p-3 text-xs"
        tabIndex={0}
        aria-label={t('unshown')}
      >
        {JSON.stringify(rest, null, 2)}
      </pre>
    </div>
  )
}
