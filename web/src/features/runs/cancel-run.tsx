import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Ban } from 'lucide-react'
import { useState } from 'react'

import { api, body } from '~/api/client'
import { useMay } from '~/api/me'
import type { Run } from '~/api/runs'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Field, Input } from '~/kit/field'
import { Fault } from '~/kit/states'

/** Ends a run that goes on, after asking once. */
export function CancelRun({ run }: { run: Run }) {
  const { t } = useTranslation('runs')
  const queries = useQueryClient()
  const own = useMay('runs.own.cancel')
  const all = useMay('runs.tenant.cancel')
  const [open, setOpen] = useState(false)
  const [reason, setReason] = useState('')
  const cancel = useMutation({
    mutationFn: () =>
      body(
        api.POST('/api/runs/{id}/cancel', {
          params: { path: { id: run.run_id } },
          body: { reason: reason.trim() || null },
        }),
      ),
    onSuccess: () => setOpen(false),
    // Also after an error: the run may have ended meanwhile, and the page should show it. But nobody waits for that.
    onSettled: (_, error) => {
      const read = queries.invalidateQueries({ queryKey: ['runs'] })
      return error ? undefined : read
    },
  })
  if (!own && !all) return null
  return (
    <>
      <Button tone="danger" onClick={() => setOpen(true)}>
        <Ban aria-hidden />
        {t('cancel.button')}
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title={t('cancel.title', { tool: run.tool })}
        description={t('cancel.text')}
      >
        <form
          className="grid gap-4"
          onSubmit={(event) => {
            event.preventDefault()
            if (!cancel.isPending) cancel.mutate()
          }}
        >
          <Field id="reason" label={t('cancel.reason')}>
            <Input
              id="reason"
              maxLength={1000}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </Field>
          {cancel.error && <Fault error={cancel.error} />}
          <div className="flex justify-end gap-2">
            <Button onClick={() => setOpen(false)}>{t('cancel.keep')}</Button>
            <Button type="submit" tone="danger" disabled={cancel.isPending}>
              {t('cancel.button')}
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  )
}
