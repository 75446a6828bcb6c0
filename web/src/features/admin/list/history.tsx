import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { Fault, Skeleton } from '~/kit/states'
import { Moment } from '~/kit/time'
import { versionsOf } from '../queries'
import { isOfProgram, type Tool } from '../types'

const SHOWN = 5

/** What happened to a tool of late. */
export function History({ tool }: { tool: Tool }) {
  const { t } = useTranslation('admin')
  const { data, error } = useInfiniteQuery(versionsOf(tool.slug))
  if (error) return <Fault error={error} />
  if (!data) return <Skeleton className="h-12" />
  const entries = data.pages[0]?.items ?? []
  if (entries.length === 0) return <p className="text-muted">{t('drawer.no_history')}</p>
  return (
    <div className="grid gap-2">
      <ul className="grid gap-1.5">
        {entries.slice(0, SHOWN).map(({ kind, version, revision, created_at }) => (
          <li
            key={`${kind}/${revision}/${created_at}`}
            className="flex flex-wrap items-center gap-2"
          >
            <Badge tone={kind === 'publish' ? 'good' : 'plain'}>{t(`entry.${kind}`)}</Badge>
            <span>{version}</span>
            <span className="text-muted">
              {t('versions.revision', { revision })} · <Moment at={created_at} />
            </span>
          </li>
        ))}
      </ul>
      {!isOfProgram(tool) && (
        <Link
          to="/admin/tools/$slug/edit"
          params={{ slug: tool.slug }}
          search={{ tab: 'versions' }}
          className="text-accent underline-offset-2 hover:underline"
        >
          {t('drawer.all_versions')}
        </Link>
      )}
    </div>
  )
}
