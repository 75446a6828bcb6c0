import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { Fault, Skeleton } from '~/kit/states'
import { revisionOf, versionsOf } from '../queries'
import type { Comparison, Tool } from '../types'
import { Verdict } from '../versions/change-list'
import { JsonDiff } from '../versions/json-diff'

/** What the draft changes of what runs: for callers, and line by line for whoever wants to see that. */
export function Changes({ tool, compared }: { tool: Tool; compared: Comparison | undefined }) {
  const { t } = useTranslation('publish')
  const [isOpen, setOpen] = useState(false)
  if (!compared) return <p className="text-muted">{t('first')}</p>
  return (
    <div className="grid min-w-0 gap-3">
      <Verdict comparison={compared} />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="cursor-pointer font-medium">{t('side_by_side')}</summary>
        <div className="mt-2">{isOpen && <SideBySide tool={tool} />}</div>
      </details>
    </div>
  )
}

function SideBySide({ tool }: { tool: Tool }) {
  const { t } = useTranslation('publish')
  const history = useInfiniteQuery(versionsOf(tool.slug))
  const entries = history.data?.pages.flatMap((page) => page.items) ?? []
  const live = entries.find(({ kind }) => kind === 'publish')?.revision
  const known = live !== undefined
  const before = useQuery({ ...revisionOf(tool.slug, live ?? 0), enabled: known })
  const after = useQuery(revisionOf(tool.slug, tool.revision))
  const error = history.error ?? before.error ?? after.error
  if (error) return <Fault error={error} />
  if (history.data && !known) return <p className="text-muted">{t('too_old')}</p>
  if (!before.data || !after.data) return <Skeleton className="h-32" />
  return (
    <JsonDiff label={t('side_by_side')} before={before.data.snapshot} after={after.data.snapshot} />
  )
}
