import type { CyclicSchemaExpandProps } from '@rjsf/utils'
import { Plus } from 'lucide-react'
import { useTranslation } from 'react-i18next'

import { Button } from '~/kit/button'

/** A part that refers to itself is unfolded when somebody wants it, else there would be no end. */
export function CyclicTemplate({ name, schema, fieldPathId, onExpand }: CyclicSchemaExpandProps) {
  const { t } = useTranslation('form')
  return (
    <div className="col-span-6">
      <Button size="small" onClick={() => onExpand(fieldPathId.$id)}>
        <Plus aria-hidden />
        {t('group.add', { title: schema.title ?? name })}
      </Button>
    </div>
  )
}
