import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Fault } from '~/kit/states'
import { toast } from '~/kit/toast'
import { useRemoveCase } from './queries'

interface Props {
  slug: string
  of: { id: string; name: string }
  onClose: () => void
}

/** Asks before a test case is removed: what it holds cannot be had back. */
export function RemoveCase({ slug, of: { id, name }, onClose }: Props) {
  const { t } = useTranslation('cases')
  const remove = useRemoveCase(slug, id)
  const go = () =>
    remove.mutate(undefined, {
      onSuccess: () => {
        toast(t('removed', { name }))
        onClose()
      },
    })
  return (
    <Dialog
      open
      title={t('remove_title', { name })}
      description={t('remove_hint')}
      onClose={onClose}
    >
      <div className="grid gap-4">
        {remove.error && <Fault error={remove.error} />}
        <div className="flex justify-end gap-2">
          <Button data-first onClick={onClose}>
            {t('cancel', { ns: 'app' })}
          </Button>
          <Button tone="danger" disabled={remove.isPending} onClick={go}>
            {t('remove')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
