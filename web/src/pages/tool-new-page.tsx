import { getRouteApi } from '@tanstack/react-router'

import { ToolEditor } from '~/features/admin/editor/editor'

const route = getRouteApi('/inside/admin/tools/new')

export default function ToolNewPage() {
  return <ToolEditor search={route.useSearch()} />
}
