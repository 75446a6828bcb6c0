import { Link } from '@tanstack/react-router'

import { Unsent } from '~/features/result/unsent'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Moment } from '~/kit/time'
import type { Approval } from './approval-queries'
import { Note, useOutcomeWords } from './outcome'
import { ApprovalStatus } from './words'

interface Props {
  approval: Approval
  /** The note that was typed and came too late. */
  unsent: string
  onClose: () => void
}

/** Takes the place of the question when others were faster: how it ended, and by whom. */
export function SettledDialog({ approval, unsent, onClose }: Props) {
  const { t } = useTranslation('approvals')
  const how = useOutcomeWords(approval)
  return (
    <Dialog open onClose={onClose} title={t('settled.title')} description={t('settled.text')}>
      <div className="grid min-w-0 gap-4">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <ApprovalStatus status={approval.status} />
          <p className="min-w-0 font-medium break-words">{how}</p>
          {approval.decided_at && (
            <span className="text-xs text-muted">
              <Moment at={approval.decided_at} />
            </span>
          )}
        </div>
        {approval.note && <Note text={approval.note} />}
        {unsent && <Unsent input={undefined} note={unsent} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button asChild>
            <Link to="/approvals/$id" params={{ id: approval.id }}>
              {t('settled.open')}
            </Link>
          </Button>
          <Button data-first tone="primary" onClick={onClose}>
            {t('dialog.back')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
