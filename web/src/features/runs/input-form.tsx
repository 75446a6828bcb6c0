import { type ComponentProps, lazy, Suspense, useMemo } from 'react'

import { Skeleton } from '~/kit/states'
import { withJsonParts, withoutEmpty } from './readable'

// The form engine is the heaviest part of the app, and many come only to read.
const ToolForm = lazy(async () => ({
  default: (await import('~/features/form/tool-form')).ToolForm,
}))

/** The form of a tool, once it is here. To read, it shows what was given and no more. */
export function InputForm({ tool, ...props }: ComponentProps<typeof ToolForm>) {
  const { slug, input_schema, form_spec } = tool
  const read = props.readOnly && !form_spec ? props.value : undefined
  const shown = useMemo(() => {
    const schema = read === undefined ? input_schema : withoutEmpty(input_schema, read)
    return { slug, input_schema: withJsonParts(schema), form_spec }
  }, [slug, input_schema, form_spec, read])
  return (
    <Suspense fallback={<Skeleton className="h-40" />}>
      <ToolForm {...props} tool={shown} />
    </Suspense>
  )
}
