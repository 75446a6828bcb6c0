import { canExpand, type ObjectFieldTemplateProps } from '@rjsf/utils'
import { Plus, X } from 'lucide-react'
import { type ReactNode, useContext } from 'react'

import { stringify } from '~/api/exact'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { variantOf } from '../controls/kind'
import { Star } from '../controls/label'
import { isJson } from '../schema/json'
import type { Section } from '../schema/spec'
import { Hint } from './notes'
import { RemoveContext } from './object-field'
import { ColumnsContext, LineContext, lookOf, useScope } from './scope'
import { rowOf } from './table'

/** The fields of an object. The outermost has no frame; an item of a list has the item's. */
export function ObjectTemplate(props: ObjectFieldTemplateProps) {
  const { t } = useTranslation('form')
  const { title, description, fieldPathId, schema, required, readonly, properties } = props
  const remove = useContext(RemoveContext)
  const isRoot = fieldPathId.path.length === 0 || fieldPathId.path.at(-1) === 'XxxOf'
  const isItem = typeof fieldPathId.path.at(-1) === 'number'
  const isLine = variantOf(schema, lookOf(props.uiSchema)) === 'inline'
  if ((schema.oneOf || schema.anyOf) && properties.length === 0) return null
  if (isRoot) {
    return (
      <LineContext value={isLine}>
        <Content {...props} />
      </LineContext>
    )
  }
  return (
    <fieldset
      className={cn(
        'grid min-w-0 gap-4',
        !isItem && !isLine && 'rounded-lg border border-line px-4 pt-2 pb-4',
      )}
    >
      <legend
        className={cn(
          'max-w-full font-medium break-words',
          isItem ? 'sr-only' : isLine ? 'mb-1.5' : 'px-1',
        )}
      >
        {title}
        {required && !readonly && <Star />}
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
      {!isItem && typeof description === 'string' && <Hint text={description} />}
      <LineContext value={isLine}>
        <Content {...props} />
      </LineContext>
    </fieldset>
  )
}

function Content(props: ObjectFieldTemplateProps) {
  const { t } = useTranslation('form')
  const { properties, uiSchema, schema, formData, readonly, onAddProperty, title } = props
  const { sections } = useScope()
  const columns = useContext(ColumnsContext)
  const blocks = inBlocks(properties, (name) => {
    const { section } = lookOf(uiSchema?.[name])
    return sections.find(({ id }) => id === section)
  })
  const known = properties.map(({ name }) => name)
  const other = isJson(formData)
    ? Object.keys(formData).filter((name) => !known.includes(name))
    : []
  return (
    <div className="grid min-w-0 gap-5">
      {blocks.map(({ section, contents }, index) =>
        section ? (
          <SectionBox key={section.id} section={section}>
            {contents}
          </SectionBox>
        ) : (
          <div
            key={index}
            className={columns ? rowOf(columns) : 'grid grid-cols-6 gap-x-4 gap-y-5'}
          >
            {contents}
          </div>
        ),
      )}
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

interface Block {
  section?: Section
  contents: ReactNode[]
}

/** The fields in their order. A section stands where its first field would, and has all of them. */
function inBlocks(
  properties: ObjectFieldTemplateProps['properties'],
  sectionOf: (name: string) => Section | undefined,
): Block[] {
  const blocks: Block[] = []
  for (const { name, content } of properties) {
    const section = sectionOf(name)
    const last = blocks.at(-1)
    const block = section
      ? blocks.find((known) => known.section === section)
      : last?.section
        ? undefined
        : last
    if (block) block.contents.push(content)
    else blocks.push({ section, contents: [content] })
  }
  return blocks
}

function SectionBox({ section, children }: { section: Section; children: ReactNode }) {
  const { title, description, collapsed } = section
  const content = (
    <div className="grid gap-4">
      <Hint text={description} />
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
        {stringify(rest, 2)}
      </pre>
    </div>
  )
}
