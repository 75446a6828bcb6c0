import { useMutation, useQuery } from '@tanstack/react-query'

import { api, queryClient } from '~/api/client'
import { Problem } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Fault } from '~/kit/states'
import { toast } from '~/kit/toast'
import { toolChanged, toolOf, usersOf } from '../queries'
import { isOfProgram, type Tool } from '../types'
import { UsedBy } from './used-by'

interface Props {
  tool: Tool
  onClose: () => void
  onGone: () => void
}

/** Removes a tool, or takes off what was laid over one of the program. Says first who would miss it. */
export function DeleteDialog({ tool, onClose, onGone }: Props) {
  const { t } = useTranslation('admin')
  const users = useQuery(usersOf(tool.slug))
  const isOverride = isOfProgram(tool)
  const remove = useMutation({
    mutationFn: () =>
      api.DELETE('/api/tools/{tool}', {
        params: { path: { tool: tool.slug }, header: { 'If-Match': tool.etag } },
      }),
    onSuccess: async () => {
      toast(t(isOverride ? 'delete.taken_off' : 'delete.done', { name: tool.name }))
      onClose()
      if (!isOverride) {
        onGone()
        queryClient.removeQueries({ queryKey: toolOf(tool.slug).queryKey })
      }
      await toolChanged(tool.slug)
    },
  })
  const isStale = remove.error instanceof Problem && remove.error.status === 412
  return (
    <Dialog
      open
      title={t(isOverride ? 'delete.take_off_title' : 'delete.title', { name: tool.name })}
      description={t(isOverride ? 'delete.take_off_hint' : 'delete.hint')}
      onClose={onClose}
    >
      <div className="grid gap-4">
        {!isOverride && (users.data?.length ?? 0) > 0 && (
          <div className="grid gap-2 rounded-lg border border-warn bg-warn-soft p-3">
            <p className="font-medium text-warn">{t('delete.used')}</p>
            <UsedBy slug={tool.slug} />
          </div>
        )}
        {remove.error && <Fault error={remove.error} />}
        {isStale && <p>{t('delete.stale')}</p>}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('cancel', { ns: 'app' })}</Button>
          <Button tone="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
            {t(isOverride ? 'action.take_off' : 'action.delete')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
