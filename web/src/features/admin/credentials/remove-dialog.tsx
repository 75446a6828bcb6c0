import { useQuery } from '@tanstack/react-query'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { toast } from '~/kit/toast'
import { credentialUsersOf, type Marked, remove } from './queries'
import { Refusal } from './refusal'
import { idOf, useSending } from './use-sending'
import { UsedBy } from './used-by'

interface Props {
  base: Marked
  onClose: () => void
  onReload: () => void
  onGone: () => void
}

/** Removes a credential. Says first who would miss it. */
export function RemoveDialog({ base, onClose, onReload, onGone }: Props) {
  const { t } = useTranslation('credentials')
  const { id, label } = base.credential
  const users = useQuery(credentialUsersOf(id))
  const sending = useSending({ valueAt: () => undefined, idAt: idOf })
  const go = () =>
    void sending.send(async () => {
      await remove(base)
      toast(t('removed', { label }))
      onClose()
      onGone()
    })
  const isUsed = (users.data?.length ?? 0) > 0
  return (
    <Dialog
      open
      title={t('remove_title', { label })}
      description={t('remove_hint')}
      onClose={onClose}
    >
      <div className="grid gap-4">
        {isUsed && sending.problem === undefined && (
          <div className="grid gap-2 rounded-lg border border-warn bg-warn-soft p-3">
            <p className="font-medium text-warn">{t('used.remove')}</p>
            <UsedBy id={id} />
          </div>
        )}
        <Refusal sending={sending} act="remove" onReload={onReload} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('cancel', { ns: 'app' })}</Button>
          <Button tone="danger" disabled={sending.busy} onClick={go}>
            {t('remove')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
