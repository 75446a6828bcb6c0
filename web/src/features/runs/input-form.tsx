import { type ComponentProps, lazy, Suspense } from 'react'

import { Skeleton } from '~/kit/states'

// The form engine is the heaviest part of the app, and many come only to read.
const ToolForm = lazy(async () => ({
  default: (await import('~/features/form/tool-form')).ToolForm,
}))

/** The form of a tool, once it is here. */
export function InputForm(props: ComponentProps<typeof ToolForm>) {
  return (
    <Suspense fallback={<Skeleton className="h-40" />}>
      <ToolForm {...props} />
    </Suspense>
  )
}
