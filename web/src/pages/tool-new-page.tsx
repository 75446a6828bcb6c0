import { getRouteApi } from '@tanstack/react-router'

import { ToolEditor } from '~/features/admin/editor/editor'
import { ForAuthors } from '~/features/admin/for-authors'

const route = getRouteApi('/inside/admin/tools/new')

export default function ToolNewPage() {
  return (
    <ForAuthors>
      <ToolEditor search={route.useSearch()} />
    </ForAuthors>
  )
}
