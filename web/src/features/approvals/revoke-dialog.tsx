import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Fault } from '~/kit/states'
import { toast } from '~/kit/toast'
import { type StandingApproval, useRevoke } from './standing-queries'

interface Props {
  of: StandingApproval
  /** What the tool is called. */
  tool: string
  onClose: () => void
}

/** Asks before a standing approval is taken back: the agent's next call waits for a person again. */
export function RevokeDialog({ of, tool, onClose }: Props) {
  const { t } = useTranslation('approvals')
  const revoke = useRevoke()
  const words = { agent: of.agent, tool }
  const go = () =>
    revoke.mutate(of.id, {
      onSuccess: () => {
        toast(t('standing.revoked', words))
        onClose()
      },
    })
  return (
    <Dialog
      open
      title={t('standing.revoke_title', words)}
      description={t('standing.revoke_text', words)}
      onClose={onClose}
    >
      <div className="grid gap-4">
        {revoke.error && <Fault error={revoke.error} />}
        <div className="flex justify-end gap-2">
          <Button data-first onClick={onClose}>
            {t('dialog.back')}
          </Button>
          <Button tone="danger" disabled={revoke.isPending} onClick={go}>
            {t('standing.revoke')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
