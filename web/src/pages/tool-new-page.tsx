import { getRouteApi } from '@tanstack/react-router'

import { ToolEditor } from '~/features/admin/editor/editor'
import { KindPage } from '~/features/admin/editor/kinds/kind-page'
import { ForAuthors } from '~/features/admin/for-authors'

const route = getRouteApi('/inside/admin/tools/new')

export default function ToolNewPage() {
  const search = route.useSearch()
  return (
    <ForAuthors>
      {search.kind ? <ToolEditor search={search} /> : <KindPage search={search} />}
    </ForAuthors>
  )
}
