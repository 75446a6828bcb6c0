import { useQueryClient } from '@tanstack/react-query'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { toast } from '~/kit/toast'
import { SetPassword } from './set-password'

/** Sets the password of the person who is signed in, over the page they are at work on. */
export default function PasswordDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('sign-in')
  const queries = useQueryClient()
  return (
    <Dialog open onClose={onClose} title={t('set.title')} description={t('set.ends_others')}>
      <SetPassword
        onDone={() => {
          void queries.invalidateQueries({ queryKey: ['users'] })
          toast(t('set.done'))
          onClose()
        }}
      >
        <Button onClick={onClose}>{t('cancel', { ns: 'app' })}</Button>
      </SetPassword>
    </Dialog>
  )
}
