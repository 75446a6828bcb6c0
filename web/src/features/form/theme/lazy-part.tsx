import type { FieldProps } from '@rjsf/utils'
import { Plus } from 'lucide-react'
import { type ComponentType, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { start } from '../schema/fill'
import { useScope } from './scope'

/** A part that is made like what it stands in. It is unfolded when somebody wants it, else there is no end. */
export function LazyPart(props: FieldProps) {
  const { t } = useTranslation('form')
  const { schema, uiSchema, formData, fieldPathId, readonly, registry, name, onChange } = props
  const { schema: root } = useScope()
  const [open, setOpen] = useState(false)
  const { 'x-lazy': reference, ...rest } = schema
  const unfolded = { ...rest, $ref: reference, 'x-gated': true }
  if (formData !== undefined || open) {
    const SchemaField = registry.fields.SchemaField as ComponentType<FieldProps>
    return <SchemaField {...props} schema={unfolded} />
  }
  if (readonly) return null
  const title = (uiSchema?.['ui:title'] as string | undefined) ?? schema.title ?? name
  const unfold = () => {
    const begun = start(root, unfolded)
    if (begun === undefined) setOpen(true)
    else onChange(begun, fieldPathId.path)
  }
  return (
    <div className="col-span-6">
      <Button size="small" onClick={unfold}>
        <Plus aria-hidden />
        {t('group.add', { title })}
      </Button>
    </div>
  )
}
