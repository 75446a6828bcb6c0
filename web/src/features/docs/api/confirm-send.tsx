import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import type { Ready } from './request'

interface Props {
  request: Ready
  onSend: () => void
  onClose: () => void
}

/** Asks before a request that replaces or removes something. */
export default function ConfirmSend({ request: { method, path }, onSend, onClose }: Props) {
  const { t } = useTranslation('docs')
  return (
    <Dialog open onClose={onClose} title={t('api.sure')} description={t('api.sure_hint')}>
      <p className="mb-4 rounded-md bg-raised p-3 font-mono text-xs break-all">
        {method} {path}
      </p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button data-first onClick={onClose}>
          {t('app:cancel')}
        </Button>
        <Button tone="danger" onClick={onSend}>
          {t('api.send')}
        </Button>
      </div>
    </Dialog>
  )
}
