import { Link } from '@tanstack/react-router'
import { Copy, Download, ExternalLink, Pencil, Rocket, Trash2 } from 'lucide-react'
import { useState } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { lazyPart } from '~/kit/lazy-part'
import { save } from '../export'
import { toolChanged } from '../queries'
import { isOfProgram, type Tool } from '../types'
import { CloneDialog } from './clone-dialog'
import { DeleteDialog } from './delete-dialog'

const PublishDialog = lazyPart(
  () => import('../publish/publish-dialog'),
  (module) => module.default,
)

/** What the person may do with a tool. */
export function Actions({ tool, onGone }: { tool: Tool; onGone: () => void }) {
  const { t } = useTranslation('admin')
  const [asking, setAsking] = useState<'clone' | 'delete' | 'publish'>()
  const mayPublish = useMay('tools.tenant.publish')
  const mayCreate = useMay('tools.tenant.create')
  const mayDelete = useMay('tools.tenant.delete')
  const isOwn = !isOfProgram(tool)
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap gap-2">
        <Button asChild size="small" tone="primary">
          <Link to="/admin/tools/$slug/edit" params={{ slug: tool.slug }} search={{}}>
            <Pencil aria-hidden />
            {t(isOwn ? 'action.edit' : 'action.override')}
          </Link>
        </Button>
        {isOwn && mayPublish && (tool.has_draft || tool.status === 'draft') && (
          <Button size="small" onClick={() => setAsking('publish')}>
            <Rocket aria-hidden />
            {t('action.publish')}
          </Button>
        )}
        {isOwn && mayCreate && (
          <Button size="small" onClick={() => setAsking('clone')}>
            <Copy aria-hidden />
            {t('action.clone')}
          </Button>
        )}
        <Button size="small" onClick={() => save(tool)}>
          <Download aria-hidden />
          {t('action.export')}
        </Button>
        <Button asChild size="small">
          <Link to="/tools/$slug" params={{ slug: tool.slug }} search={{}}>
            <ExternalLink aria-hidden />
            {t('action.open')}
          </Link>
        </Button>
        {mayDelete && tool.kind !== 'code' && (
          <Button size="small" tone="danger" onClick={() => setAsking('delete')}>
            <Trash2 aria-hidden />
            {t(isOwn ? 'action.delete' : 'action.take_off')}
          </Button>
        )}
      </div>
      {asking === 'publish' && (
        <PublishDialog
          tool={tool}
          onClose={() => setAsking(undefined)}
          onStale={() => void toolChanged(tool.slug).then(() => setAsking(undefined))}
        />
      )}
      {asking === 'clone' && <CloneDialog tool={tool} onClose={() => setAsking(undefined)} />}
      {asking === 'delete' && (
        <DeleteDialog tool={tool} onClose={() => setAsking(undefined)} onGone={onGone} />
      )}
    </div>
  )
}
