import PlainObjectField from '@rjsf/core/lib/components/fields/ObjectField.js'
import type { FieldProps } from '@rjsf/utils'
import { ADDITIONAL_PROPERTY_FLAG } from '@rjsf/utils'
import { Plus } from 'lucide-react'
import { type ComponentType, createContext } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { kindOf } from '../controls/kind'
import { start } from '../schema/fill'
import type { Json } from '../schema/json'
import { layers, member, names, required } from '../schema/layers'
import { LeafField } from './leaf-field'
import { lookOf, useScope } from './scope'

const Plain = PlainObjectField as ComponentType<FieldProps>

/** How the object around can be taken away again, if it can. */
export const RemoveContext = createContext<(() => void) | undefined>(undefined)

/**
 * An object. One that need not be there, but asks for something once it is, is added by a button:
 * who leaves it out must not be asked for its fields.
 */
export function ObjectField(props: FieldProps) {
  const { t } = useTranslation('form')
  const { schema, uiSchema, formData, fieldPathId, readonly, onChange } = props
  const { schema: root } = useScope()
  if (kindOf(schema, lookOf(uiSchema), root) === 'json') return <LeafField {...props} />
  const gated = isGated(props, root)
  const path = (props.childFieldPathId ?? fieldPathId).path
  if (gated && formData === undefined && !readonly) {
    const title = (uiSchema?.['ui:title'] as string | undefined) ?? schema.title ?? props.name
    return (
      <div>
        <Button size="small" onClick={() => onChange(start(root, schema) ?? {}, path)}>
          <Plus aria-hidden />
          {t('group.add', { title })}
        </Button>
      </div>
    )
  }
  return (
    <RemoveContext value={gated && !readonly ? () => onChange(undefined, path) : undefined}>
      <Plain {...props} />
    </RemoveContext>
  )
}

function isGated({ schema, required: needed, fieldPathId }: FieldProps, root: Json): boolean {
  if (needed || typeof fieldPathId.path.at(-1) !== 'string') return false
  if (ADDITIONAL_PROPERTY_FLAG in schema || schema.oneOf || schema.anyOf) return false
  if (schema['x-gated']) return true
  const all = layers(root, [schema])
  const hasDefaults = names(all).some((name) =>
    layers(root, member(all, name)).some((layer) => layer['x-default'] !== undefined),
  )
  return required(all).size > 0 || hasDefaults
}
