import { Link } from '@tanstack/react-router'
import { ExternalLink, Rocket, Save } from 'lucide-react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { Button } from '~/kit/button'
import { DraftMark, StatusBadge } from '../badges'
import type { Tool } from '../types'
import { useEditing } from './context'

/** The ids of the buttons that save: a new tool gets another page, on which somebody goes on from the same one. */
export const SAVE_ID = { draft: 'save-draft', publish: 'save-publish' }

/** Whether there is something saved that does not run. */
export function canPublish({ has_draft, status }: Tool): boolean {
  return has_draft || status !== 'published'
}

/**
 * What is edited, whether it is saved, and the buttons that save it. It stays in sight; on a phone only the buttons
 * do, or there would be little sight left.
 */
export function SaveBar({ onSave }: { onSave: (isPublishing: boolean) => void }) {
  const { t } = useTranslation('admin')
  const { base, isDirty, isOverride, busy, save } = useEditing()
  const mayPublish = useMay('tools.tenant.publish') && !isOverride
  const go = async (publish: boolean) => {
    onSave(publish)
    await save(publish)
    // While a new tool is on its way nothing here can have the focus. What was refused says itself where to go on.
    setTimeout(() => {
      if (document.activeElement === document.body) {
        document.getElementById(SAVE_ID[publish ? 'publish' : 'draft'])?.focus()
      }
    })
  }
  return (
    <div
      data-bar
      className="max-sm:contents sm:sticky sm:top-14 sm:z-20 sm:-mx-6 sm:-mt-6 sm:flex sm:flex-wrap sm:items-center sm:gap-x-4 sm:gap-y-2 sm:border-b sm:border-line sm:bg-ground sm:px-6 sm:py-3"
    >
      <div className="grid min-w-0 flex-1 basis-56 gap-1">
        <Link
          to="/admin/tools"
          search={{}}
          className="justify-self-start text-xs text-muted hover:underline"
        >
          {t('list.title')}
        </Link>
        <div className="flex min-w-0 flex-wrap items-center gap-2">
          <h1 className="min-w-0 text-lg font-semibold break-words">
            {base ? base.name : t('editor.new_title')}
          </h1>
          {base && (
            <>
              <StatusBadge status={base.status} />
              <Badge>{base.version}</Badge>
              <DraftMark tool={base} />
            </>
          )}
        </div>
      </div>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1.5 max-sm:sticky max-sm:top-14 max-sm:z-20 max-sm:-mx-4 max-sm:border-b max-sm:border-line max-sm:bg-ground max-sm:px-4 max-sm:py-2">
        <p className="text-xs text-muted" aria-live="polite">
          {busy ? t('editor.saving') : isDirty ? t('editor.dirty') : base ? t('editor.clean') : ''}
        </p>
        <div className="flex flex-wrap gap-2">
          {base?.available && (
            <Button asChild tone="quiet">
              <Link to="/tools/$slug" params={{ slug: base.slug }} search={{}}>
                <ExternalLink aria-hidden />
                <span className="max-sm:sr-only">{t('editor.open')}</span>
              </Link>
            </Button>
          )}
          <Button
            tone={mayPublish ? 'plain' : 'primary'}
            disabled={busy || (!isDirty && base !== undefined)}
            aria-keyshortcuts="Control+S Meta+S"
            id={SAVE_ID.draft}
            onClick={() => void go(false)}
          >
            <Save aria-hidden className="max-sm:hidden" />
            {t(isOverride ? 'editor.save' : 'editor.save_draft')}
          </Button>
          {mayPublish && (
            <Button
              id={SAVE_ID.publish}
              tone="primary"
              disabled={busy || !(isDirty || !base || canPublish(base))}
              onClick={() => void go(true)}
            >
              <Rocket aria-hidden className="max-sm:hidden" />
              {t(isDirty || !base ? 'editor.save_publish' : 'action.publish')}
            </Button>
          )}
        </div>
      </div>
    </div>
  )
}
