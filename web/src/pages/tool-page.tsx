import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'

import { Problem } from '~/api/problem'
import { tool } from '~/features/tools/queries'
import { useNoteRecent } from '~/features/tools/shelf'
import { ToolHeader } from '~/features/tools/tool-header'
import { ToolWorkbench } from '~/features/tools/tool-workbench'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { usePageKeys } from '~/kit/page-keys'
import { Fault, Loading } from '~/kit/states'
import { usePageName } from '~/kit/title'

const KEYS = [
  [/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘ Enter' : 'Ctrl Enter', 'run'],
] as const

const route = getRouteApi('/inside/tools/$slug')

export default function ToolPage() {
  const { t } = useTranslation('tool')
  const { slug } = route.useParams()
  const search = route.useSearch()
  const { data, error, refetch } = useQuery(tool(slug))
  const missing = error instanceof Problem && error.status === 404
  usePageName(missing ? t('missing_title') : data?.name)
  usePageKeys(KEYS)
  const note = useEffectEvent(useNoteRecent())
  const found = data?.slug
  useEffect(() => {
    if (found) note(found)
  }, [found])
  if (missing) return <Missing slug={slug} />
  if (data) {
    return (
      <div className="grid min-w-0 gap-6">
        <ToolHeader tool={data} />
        <ToolWorkbench key={data.slug} tool={data} search={search} />
      </div>
    )
  }
  if (!error) return <Loading />
  return (
    <>
      <h1 className="sr-only">{slug}</h1>
      <Fault error={error} onRetry={() => void refetch()} />
    </>
  )
}

function Missing({ slug }: { slug: string }) {
  const { t } = useTranslation('tool')
  return (
    <div className="grid justify-items-center gap-3 rounded-lg border border-dashed border-line px-6 py-12 text-center">
      <h1 className="text-lg font-semibold">{t('missing_title')}</h1>
      <p className="max-w-prose min-w-0 break-words text-muted">{t('missing', { slug })}</p>
      <Button asChild tone="primary">
        <Link to="/tools" search={{}}>
          {t('to_library')}
        </Link>
      </Button>
    </div>
  )
}
