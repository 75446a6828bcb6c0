import { type ComponentProps, useMemo } from 'react'

import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { withJsonParts } from './readable'

// The form engine is the heaviest part of the app, and many come only to read.
const ToolForm = lazyPart(
  () => import('~/features/form/tool-form'),
  (module) => module.ToolForm,
)

/** The form of a tool, once it is here. */
export function InputForm({ tool, ...props }: ComponentProps<typeof ToolForm>) {
  const { slug, input_schema, form_spec } = tool
  const shown = useMemo(
    () => ({ slug, input_schema: withJsonParts(input_schema), form_spec }),
    [slug, input_schema, form_spec],
  )
  return <ToolForm fallback={<Skeleton className="h-40" />} {...props} tool={shown} />
}
