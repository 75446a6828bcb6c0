import type { FieldProps } from '@rjsf/utils'
import { type ComponentType, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Input, Select } from '~/kit/field'
import { defined } from '../check/adapter'
import { meets } from '../check/checker'
import { Label } from '../controls/label'
import { start } from '../schema/fill'
import { isJson, type Json, own } from '../schema/json'
import { layers, member, names } from '../schema/layers'
import { Faults, faultId, Hint, hintId } from './notes'
import { ChoiceContext, lookOf, useScope } from './scope'

/** One of several forms that a value may have: a list to pick from, and the fields of what was picked. */
export function ChoiceField(props: FieldProps) {
  const { t } = useTranslation('form')
  const { schema, uiSchema, formData, fieldPathId, readonly, required, registry, name } = props
  const { options, onChange, errorSchema } = props as FieldProps & { options: Json[] }
  const { schema: root } = useScope()
  const [picked, setPicked] = useState<number>()
  const isEmpty = formData === undefined || formData === null
  const index = isEmpty ? (picked ?? (required ? 0 : -1)) : best(options, formData, root, picked)
  const chosen = options[index]
  const id = `${fieldPathId.$id}-choice`
  const title = (uiSchema?.['ui:title'] as string | undefined) ?? schema.title ?? name
  const faults = isEmpty || !chosen ? (errorSchema?.__errors ?? []) : []
  const SchemaField = registry.fields.SchemaField as ComponentType<FieldProps>
  const pick = (next: number) => {
    setPicked(next)
    const option = options[next]
    onChange(option ? carried(root, option, formData) : undefined, fieldPathId.path)
  }
  const titleOf = (option: Json, number: number) => {
    if (typeof option.title === 'string') return option.title
    return typeof option.type === 'string'
      ? t(`types.${option.type}`)
      : t('choice.option', { number: number + 1 })
  }
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="grid gap-1.5">
        <Label
          id={id}
          label={fieldPathId.path.length === 0 ? t('choice.kind') : title}
          required={required && !readonly}
        />
        {readonly ? (
          <Input id={id} readOnly value={chosen ? titleOf(chosen, index) : ''} />
        ) : (
          <Select
            id={id}
            value={index}
            aria-invalid={faults.length > 0 || undefined}
            aria-describedby={faults.length > 0 ? faultId(fieldPathId.$id) : undefined}
            onChange={(event) => pick(Number(event.target.value))}
          >
            {(!required || index < 0) && <option value={-1}>{t('none')}</option>}
            {options.map((option, number) => (
              <option key={`${number}-${titleOf(option, number)}`} value={number}>
                {titleOf(option, number)}
              </option>
            ))}
          </Select>
        )}
        <Hint id={hintId(id)} text={schema.description} />
        <Faults id={faultId(fieldPathId.$id)} faults={faults} />
      </div>
      {chosen && chosen.type !== 'null' && (
        <ChoiceContext value={fieldPathId.path.length}>
          <SchemaField
            {...props}
            key={index}
            required
            schema={{ ...inherited(schema, chosen), title: titleOf(chosen, index) }}
            uiSchema={{
              ...uiSchema,
              'ui:title': undefined,
              'ui:description': undefined,
              'ui:look': { ...lookOf(uiSchema), width: undefined },
            }}
          />
        </ChoiceContext>
      )}
    </div>
  )
}

/** A branch that does not name its type has that of the whole. */
function inherited(schema: Json, option: Json): Json {
  return option.type === undefined && schema.type !== undefined
    ? { ...option, type: schema.type }
    : option
}

/** The branch that a value is of: what was picked as long as nothing speaks against it. */
export function best(
  options: Json[],
  value: unknown,
  root: Json,
  picked: number | undefined,
): number {
  const scores = options.map(
    (option, index) => score(option, value, root) + (index === picked ? 0.5 : 0),
  )
  const top = Math.max(...scores)
  return scores.indexOf(top)
}

function score(option: Json, value: unknown, root: Json): number {
  const all = layers(root, [option])
  const type = all.find((layer) => layer.type !== undefined)?.type
  if (type !== undefined && !isOfType(type, value)) return -10
  if (!isJson(value)) return meets(option, value, root.$defs) ? 5 : 0
  let points = meets(option, defined(value), root.$defs) ? 5 : 0
  for (const name of names(all)) {
    const given = own(value, name)
    if (given === undefined) continue
    const fixed = member(all, name).find((schema) => isJson(schema) && schema.const !== undefined)
    if (isJson(fixed)) points += fixed.const === given ? 20 : -20
    else points += 0.01
  }
  return points
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === 'object') return isJson(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer' || type === 'number') return ['number', 'bigint'].includes(typeof value)
  return type === (value === null ? 'null' : typeof value)
}

/** What a newly picked branch starts with, and what it shares with the one before. */
function carried(root: Json, option: Json, value: unknown): unknown {
  const begun = start(root, option)
  if (!isJson(begun) || !isJson(value)) return begun ?? (isJson(option.properties) ? {} : undefined)
  const all = layers(root, [option])
  const shared = names(all).filter(
    (name) => own(value, name) !== undefined && own(begun, name) === undefined,
  )
  return { ...begun, ...Object.fromEntries(shared.map((name) => [name, value[name]])) }
}
