import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'

import { ToolEditor } from '~/features/admin/editor/editor'
import { ForAuthors } from '~/features/admin/for-authors'
import { toolOf } from '~/features/admin/queries'
import { Fault, Loading } from '~/kit/states'

const route = getRouteApi('/inside/admin/tools/$slug/edit')

export default function ToolEditPage() {
  return (
    <ForAuthors>
      <Edited />
    </ForAuthors>
  )
}

function Edited() {
  const { slug } = route.useParams()
  const search = route.useSearch()
  const { data: tool, error, refetch } = useQuery(toolOf(slug))
  if (tool) return <ToolEditor key={tool.id} tool={tool} search={search} />
  if (error) return <Fault error={error} onRetry={() => void refetch()} />
  return <Loading />
}
