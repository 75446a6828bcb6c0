import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { GitCompare, RotateCcw } from 'lucide-react'
import { useState } from 'react'

import { api, body } from '~/api/client'
import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Fault, Skeleton } from '~/kit/states'
import { Moment } from '~/kit/time'
import { toast } from '~/kit/toast'
import { useEditing } from '../editor/context'
import { focusSoon } from '../focus-soon'
import { toolChanged, versionsOf } from '../queries'
import type { ToolEditorSearch } from '../search'
import type { Author, Tool, Version } from '../types'
import { AuthorName } from './author-name'
import { Compare } from './compare'
import { NewVersion } from './new-version'

/** Everything that was saved, published or numbered, newest first. */
export function VersionsTab({ tool, search }: { tool: Tool; search: ToolEditorSearch }) {
  const { t } = useTranslation('admin')
  const { data, error, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(
    versionsOf(tool.slug),
  )
  if (error && !data) return <Fault error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton className="h-40" />
  const entries = data.pages.flatMap((page) => page.items)
  return (
    <div className="grid min-w-0 gap-8">
      <NewVersion tool={tool} hasLive={entries.some(({ kind }) => kind === 'publish')} />
      <Compare tool={tool} entries={entries} search={search} />
      <section className="grid min-w-0 gap-3">
        <h2 className="text-base font-semibold">{t('versions.all')}</h2>
        <Entries tool={tool} entries={entries} search={search} />
        {hasNextPage && (
          <Button className="justify-self-start" onClick={() => void fetchNextPage()}>
            {t('list.more')}
          </Button>
        )}
      </section>
    </div>
  )
}

interface EntriesProps {
  tool: Tool
  entries: Version[]
  search: ToolEditorSearch
}

function Entries({ tool, entries, search }: EntriesProps) {
  const { t } = useTranslation('admin')
  const { isDirty } = useEditing()
  const [restoring, setRestoring] = useState<number>()
  return (
    <>
      {isDirty && <p className="text-xs text-muted">{t('versions.save_first')}</p>}
      <ul className="divide-y divide-line rounded-lg border border-line">
        {entries.map(({ kind, version, revision, author, created_at }) => (
          <li
            key={`${kind}/${revision}/${version}/${created_at}`}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2"
          >
            <Badge tone={kind === 'publish' ? 'good' : 'plain'}>{t(`entry.${kind}`)}</Badge>
            <span className="font-medium">{version}</span>
            <span className="text-muted">{t('versions.revision', { revision })}</span>
            <span className="min-w-0 text-muted">
              <AuthorName author={author as unknown as Author} /> · <Moment at={created_at} />
            </span>
            <span className="ml-auto flex flex-wrap gap-1">
              {kind === 'save' && revision > 1 && (
                <Button asChild size="small" tone="quiet">
                  <Link
                    to="."
                    search={{ ...search, from: String(revision - 1), to: String(revision) }}
                    replace
                    resetScroll={false}
                    aria-label={t('versions.what_changed_in', { revision })}
                    onClick={() => focusSoon('compare')}
                  >
                    <GitCompare aria-hidden />
                    {t('versions.what_changed')}
                  </Link>
                </Button>
              )}
              {kind === 'save' && revision !== tool.revision && (
                <Button
                  size="small"
                  tone="quiet"
                  disabled={isDirty}
                  aria-label={t('versions.restore_revision', { revision })}
                  onClick={() => setRestoring(revision)}
                >
                  <RotateCcw aria-hidden />
                  {t('versions.restore')}
                </Button>
              )}
            </span>
          </li>
        ))}
      </ul>
      {restoring !== undefined && (
        <Restore tool={tool} revision={restoring} onClose={() => setRestoring(undefined)} />
      )}
    </>
  )
}

interface RestoreProps {
  tool: Tool
  revision: number
  onClose: () => void
}

function Restore({ tool, revision, onClose }: RestoreProps) {
  const { t } = useTranslation('admin')
  const { reset } = useEditing()
  const restore = useMutation({
    mutationFn: () =>
      body(
        api.POST('/api/tools/{tool}/versions/{revision}/restore', {
          params: { path: { tool: tool.slug, revision }, header: { 'If-Match': tool.etag } },
        }),
      ),
    onSuccess: async (restored) => {
      reset(restored)
      onClose()
      toast(t('versions.restored', { revision }))
      await toolChanged(tool.slug)
    },
  })
  return (
    <Dialog
      open
      title={t('versions.restore_revision', { revision })}
      description={t('versions.restore_hint')}
      onClose={onClose}
    >
      <div className="grid gap-4">
        {restore.error && <Fault error={restore.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('cancel', { ns: 'app' })}</Button>
          <Button tone="primary" disabled={restore.isPending} onClick={() => restore.mutate()}>
            {t('versions.restore')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
