import { orderProperties } from '@rjsf/utils'

import { type Kind, kindOf, variantOf } from '../controls/kind'
import { isJson, type Json, list, own, text } from '../schema/json'
import { layers, member, names } from '../schema/layers'
import type { FieldLook } from '../schema/ui'
import { lookOf } from './scope'

/** What needs more room than a cell has. */
const LARGE: Kind[] = ['any', 'choice', 'json', 'lazy', 'list', 'object', 'textarea']
const OPEN = ['oneOf', 'anyOf', 'if', 'patternProperties', 'dependentSchemas']

export interface Column {
  name: string
  title: string
  description?: string
}

const ROWS = [
  'sm:grid-cols-1',
  'sm:grid-cols-2',
  'sm:grid-cols-3',
  'sm:grid-cols-4',
  'sm:grid-cols-5',
  'sm:grid-cols-6',
]

/** The cells of a row beside each other, and on a phone under each other. */
export function rowOf(columns: readonly unknown[]): string {
  return `grid min-w-0 gap-3 ${ROWS[columns.length - 1]}`
}

/** The columns of a list that wants to be a table. None where its items do not fit into rows: it is a list then. */
export function columnsOf(
  schema: Json,
  uiSchema: unknown,
  look: FieldLook,
  root: unknown,
): Column[] | undefined {
  if (variantOf(schema, look) !== 'table' || list(schema.items).length > 0) return undefined
  const all = layers(root, [schema.items])
  const isOpen = all.some(
    (layer) => isJson(layer.additionalProperties) || OPEN.some((word) => word in layer),
  )
  const ui = isJson(uiSchema) && isJson(uiSchema.items) ? uiSchema.items : {}
  const shown = names(all).filter((name) => !lookOf(own(ui, name)).concealed)
  if (isOpen || shown.length === 0 || shown.length > ROWS.length) return undefined
  const order = list(ui['ui:order']).filter((name) => name === '*' || shown.includes(String(name)))
  const sorted = orderProperties(shown, order.length > 0 ? (order as string[]) : undefined)
  const columns = sorted.map((name) => {
    const [first = {}] = layers(root, member(all, name))
    const node = own(ui, name)
    const said = (key: string) => (isJson(node) ? text(node[key]) : undefined)
    return {
      name,
      kind: kindOf(first, lookOf(node), root),
      title: said('ui:title') ?? text(first.title) ?? name,
      description: said('ui:description') ?? text(first.description),
    }
  })
  return columns.some(({ kind }) => LARGE.includes(kind)) ? undefined : columns
}
