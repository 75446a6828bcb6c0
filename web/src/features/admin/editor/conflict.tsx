import { useInfiniteQuery } from '@tanstack/react-query'
import { GitMerge } from 'lucide-react'
import { useEffect, useRef } from 'react'

import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { Button } from '~/kit/button'
import { Moment } from '~/kit/time'
import { versionsOf } from '../queries'
import type { Author, Tool } from '../types'
import { AuthorName } from '../versions/author-name'
import { JsonDiff } from '../versions/json-diff'
import { useEditing } from './context'
import { changedKeys, fromTool } from './definition'

/** Somebody else was faster. Says what they changed, and lets the person decide whose word counts. */
export function Conflict({ theirs, isPublishing }: { theirs: Tool; isPublishing: boolean }) {
  const { t } = useTranslation('admin')
  const { before, definition, changed, save, reset, keepEditing, busy } = useEditing()
  const history = useInfiniteQuery(versionsOf(theirs.slug))
  const last = history.data?.pages[0]?.items.find(({ revision }) => revision === theirs.revision)
  const there = fromTool(theirs)
  const theirKeys = changedKeys(before, there)
  const box = useRef<HTMLElement>(null)
  useEffect(() => box.current?.focus(), [])
  return (
    <section
      ref={box}
      tabIndex={-1}
      aria-labelledby="conflict-title"
      className="grid min-w-0 gap-4 rounded-lg border border-warn bg-warn-soft p-4 outline-none"
    >
      <div role="alert" className="grid gap-1">
        <h2 id="conflict-title" className="flex items-center gap-2 font-semibold text-warn">
          <GitMerge aria-hidden className="size-4 shrink-0" />
          {t('conflict.title')}
        </h2>
        <p>
          {t('conflict.text', { revision: theirs.revision, version: theirs.version })}{' '}
          {last && (
            <>
              <AuthorName author={last.author as unknown as Author} />,{' '}
              <Moment at={last.created_at} />
            </>
          )}
        </p>
      </div>
      <ul className="grid min-w-0 gap-3">
        {[...new Set([...changed, ...theirKeys])].map((key) => (
          <li key={key} className="grid min-w-0 gap-1.5 rounded-md bg-ground p-3">
            <p className="flex flex-wrap items-center gap-2">
              <code className="font-medium">{key}</code>
              {theirKeys.includes(key) && <Badge>{t('conflict.by_them')}</Badge>}
              {changed.includes(key) && <Badge tone="accent">{t('conflict.by_you')}</Badge>}
            </p>
            {changed.includes(key) ? (
              <>
                <p className="text-xs text-muted">{t('conflict.sides')}</p>
                <JsonDiff label={key} before={there[key]} after={definition[key]} />
              </>
            ) : (
              <>
                <p className="text-xs text-muted">{t('conflict.sides_theirs')}</p>
                <JsonDiff label={key} before={before[key]} after={there[key]} />
              </>
            )}
          </li>
        ))}
      </ul>
      <p>{t('conflict.choice')}</p>
      <div className="flex flex-wrap gap-2">
        <Button tone="primary" disabled={busy} onClick={() => void save(isPublishing, theirs)}>
          {t('conflict.mine')}
        </Button>
        <Button disabled={busy} onClick={() => reset(theirs)}>
          {t('conflict.theirs')}
        </Button>
        <Button tone="quiet" onClick={keepEditing}>
          {t('conflict.later')}
        </Button>
      </div>
    </section>
  )
}
