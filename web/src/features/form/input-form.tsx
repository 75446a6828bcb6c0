import { type ComponentProps, useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { isObject } from '~/features/result/json'
import { Raw } from '~/features/result/raw'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { isOpen, withJsonParts, withoutEmpty } from './readable'

// The form engine is the heaviest part of the app, and many come only to read.
const ToolForm = lazyPart(
  () => import('~/features/form/tool-form'),
  (module) => module.ToolForm,
)

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
  return <ToolForm fallback={<Skeleton className="h-40" />} {...props} tool={shown} />
}
