import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'

/** Asks before what was typed is lost. */
export function Leave({ onLeave, onStay }: { onLeave: () => void; onStay: () => void }) {
  const { t } = useTranslation('admin')
  return (
    <Dialog open title={t('leave.title')} description={t('leave.text')} onClose={onStay}>
      <div className="flex justify-end gap-2">
        <Button tone="danger" onClick={onLeave}>
          {t('leave.leave')}
        </Button>
        <Button tone="primary" onClick={onStay}>
          {t('leave.stay')}
        </Button>
      </div>
    </Dialog>
  )
}
