import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'

import { Problem } from '~/api/problem'
import { ToolEditor } from '~/features/admin/editor/editor'
import { ForAuthors } from '~/features/admin/for-authors'
import { toolOf } from '~/features/admin/queries'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
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
  if (error instanceof Problem && error.status === 404) return <Missing slug={slug} />
  if (!error) return <Loading />
  return (
    <>
      <h1 className="sr-only">{slug}</h1>
      <Fault error={error} onRetry={() => void refetch()} />
    </>
  )
}

/** No tool to edit, and the way back to those that there are. */
function Missing({ slug }: { slug: string }) {
  const { t } = useTranslation(['tool', 'admin'])
  return (
    <div className="grid justify-items-center gap-3 rounded-lg border border-dashed border-line px-6 py-12 text-center">
      <h1 className="text-lg font-semibold">{t('missing_title')}</h1>
      <p className="max-w-prose min-w-0 break-words text-muted">{t('missing', { slug })}</p>
      <Button asChild tone="primary">
        <Link to="/admin/tools" search={{}}>
          {t('admin:list.title')}
        </Link>
      </Button>
    </div>
  )
}
