import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render } from '@testing-library/react'
import { type ReactNode, Suspense } from 'react'

import { queryClient } from '~/api/client'
import { me } from '~/api/me'
import type { Tool } from '../types'
import { type Editing, EditingContext } from './context'
import { BLANK, type Definition } from './definition'
import { useEditor } from './use-editor'

/** Shows something of the editor in a test, around a tool as it is saved. What it edits is read from `now`. */
export function renderInEditor(
  parts: ReactNode,
  saved: Partial<Definition>,
  permissions: string[] = [],
) {
  const client: QueryClient = queryClient
  client.setDefaultOptions({ queries: { retry: false, staleTime: Number.POSITIVE_INFINITY } })
  client.setQueryData(me.queryKey, { permissions } as never)
  const seen: { editing?: Editing } = {}
  const tool = { ...BLANK, slug: 'mine', ...saved } as unknown as Tool
  const Around = ({ children }: { children: ReactNode }) => {
    const editor = useEditor({ tool, words: ({ message }) => message, onSaved: () => undefined })
    seen.editing = { ...editor, isOverride: false }
    return <EditingContext value={seen.editing}>{children}</EditingContext>
  }
  const all = (shown: ReactNode) => (
    <QueryClientProvider client={client}>
      <Around>
        <Suspense>{shown}</Suspense>
      </Around>
    </QueryClientProvider>
  )
  const { rerender } = render(all(parts))
  return {
    client,
    now: () => seen.editing as Editing,
    /** Shows something else in the same editor, as another tab does. */
    show: (other: ReactNode) => rerender(all(other)),
  }
}
