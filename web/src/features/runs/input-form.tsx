import { type ComponentProps, lazy, Suspense, useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { isObject } from '~/features/result/json'
import { Raw } from '~/features/result/raw'
import { Skeleton } from '~/kit/states'
import { isOpen, withJsonParts, withoutEmpty } from './readable'

// The form engine is the heaviest part of the app, and many come only to read.
const ToolForm = lazy(async () => ({
  default: (await import('~/features/form/tool-form')).ToolForm,
}))

/** The form of a tool, once it is here. To read, it shows what was given and no more. */
export function InputForm({ tool, ...props }: ComponentProps<typeof ToolForm>) {
  const { t } = useTranslation('runs')
  const { slug, input_schema, form_spec } = tool
  const read = props.readOnly && !form_spec ? props.value : undefined
  const shown = useMemo(() => {
    const schema = read === undefined ? input_schema : withoutEmpty(input_schema, read)
    return { slug, input_schema: withJsonParts(schema), form_spec }
  }, [slug, input_schema, form_spec, read])
  if (props.readOnly && isObject(input_schema) && isOpen(input_schema)) {
    return <Raw value={props.value} name={t('input')} />
  }
  return (
    <Suspense fallback={<Skeleton className="h-40" />}>
      <ToolForm {...props} tool={shown} />
    </Suspense>
  )
}
