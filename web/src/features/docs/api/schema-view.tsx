import { createContext, useContext, useState } from 'react'

import { useTranslation } from '~/i18n'
import { typeOf } from './example'
import { type Description, followed, refOf, type Schema } from './model'
import { Sentence } from './words'

const Api = createContext<Description | undefined>(undefined)
export const ApiProvider = Api.Provider

/** What a schema holds, name by name. What is inside of a part shows when somebody opens it. */
export function SchemaView({ schema }: { schema: Schema }) {
  const { t } = useTranslation('docs')
  const rows = useRows(schema)
  if (rows.length === 0) {
    return (
      <p className="text-muted">
        <Kind schema={schema} />
        {schema.description && (
          <>
            {': '}
            <Sentence text={schema.description} />
          </>
        )}
        {!schema.description && ` · ${t('api.any')}`}
      </p>
    )
  }
  return (
    <ul className="divide-y divide-line rounded-lg border border-line">
      {rows.map((row) => (
        <Row key={row.name} {...row} />
      ))}
    </ul>
  )
}

interface RowProps {
  name: string
  schema: Schema
  isNeeded: boolean
}

function Row({ name, schema, isNeeded }: RowProps) {
  const { t } = useTranslation('docs')
  const [isOpen, setOpen] = useState(false)
  const inside = useInside(schema)
  const isNested = useRows(inside).length > 0
  const limits = limitsOf(schema)
  return (
    <li className="grid min-w-0 gap-1 px-3 py-2">
      <p className="flex min-w-0 flex-wrap items-baseline gap-x-2 gap-y-0.5">
        <code className="font-mono text-xs font-semibold break-all">{name}</code>
        <Kind schema={schema} />
        {isNeeded && <span className="text-xs font-medium text-bad">{t('api.required')}</span>}
      </p>
      {schema.description && (
        <p className="text-muted">
          <Sentence text={schema.description} />
        </p>
      )}
      {limits && <p className="font-mono text-xs break-all text-muted">{limits}</p>}
      {isNested && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary className="w-fit cursor-pointer rounded text-xs text-accent">
            {t('api.fields_of', { name })}
          </summary>
          {isOpen && (
            <div className="mt-2">
              <SchemaView schema={inside} />
            </div>
          )}
        </details>
      )}
    </li>
  )
}

/** The type in a few words, such as `string (uuid)`, `ToolView[]` or `integer or null`. */
export function Kind({ schema }: { schema: Schema }) {
  return <span className="font-mono text-xs text-muted">{kindOf(schema)}</span>
}

export function kindOf(schema: Schema): string {
  const name = refOf(schema)
  if (name) return name
  const choices = schema.oneOf ?? schema.anyOf
  if (choices) return choices.map(kindOf).join(' | ')
  if (schema.allOf?.[0]) return kindOf(schema.allOf[0])
  const types = [schema.type ?? 'any'].flat()
  const told = types.map((type) => {
    if (type === 'array') return schema.items ? `${kindOf(schema.items)}[]` : 'array'
    return schema.format && type !== 'null' ? `${type} (${schema.format})` : type
  })
  return told.join(' | ')
}

/** What values are taken, in the notation of mathematics. */
export function limitsOf(schema: Schema): string {
  const range = (name: string, min?: number, max?: number) => {
    if (min !== undefined && max !== undefined) return `${min} ≤ ${name} ≤ ${max}`
    if (min !== undefined) return `${name} ≥ ${min}`
    return max !== undefined ? `${name} ≤ ${max}` : ''
  }
  const parts = [
    schema.enum?.map((value) => JSON.stringify(value)).join(' | '),
    range('value', schema.minimum, schema.maximum),
    range('length', schema.minLength, schema.maxLength),
    range('items', schema.minItems, schema.maxItems),
    schema.pattern && `/${schema.pattern}/`,
    schema.default !== undefined && `= ${JSON.stringify(schema.default)}`,
  ]
  return parts.filter(Boolean).join(' · ')
}

/** What somebody sees who opens a property: what is in it, or in each item of it. */
function useInside(schema: Schema): Schema {
  const api = useContext(Api)
  if (!api) return schema
  const choice = (schema.oneOf ?? schema.anyOf)?.find(({ type }) => type !== 'null')
  const whole = followed(api, choice ?? schema)
  return typeOf(whole) === 'array' && whole.items ? followed(api, whole.items) : whole
}

function useRows(given: Schema): RowProps[] {
  const api = useContext(Api)
  if (!api) return []
  const schema = followed(api, given)
  const parts = [schema, ...(schema.allOf ?? []).map((part) => followed(api, part))]
  return parts.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).map(([name, part]) => ({
      name,
      schema: part,
      isNeeded: required.includes(name),
    })),
  )
}
