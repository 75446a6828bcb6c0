import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'

import { useMayReadRunOf } from '~/api/actor'
import { Problem } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { useKept } from '~/kit/kept'
import { toast } from '~/kit/toast'
import { type Approval, approvalOf, type Decision, useDecide } from './approval-queries'
import { DecideDialog } from './decide-dialog'
import { SettledDialog } from './settled-dialog'
import type { AskingTool } from './use-tools'

/** Decides on one approval of the list, in a dialog that shows what it is about. */
export function QuickDecision({
  approval,
  tool: asking,
  kind,
  onClose,
}: {
  approval: Approval
  tool: AskingTool | undefined
  kind: Decision['kind']
  onClose: () => void
}) {
  const { t } = useTranslation('approvals')
  const navigate = useNavigate()
  const mayReadRun = useMayReadRunOf(approval.requested_by)
  // The page of the approval keeps its note in the same place.
  const [note = '', setNote] = useKept<string>(`approval-note:${approval.id}`)
  const decide = useDecide(approval.id)
  // The list lets go of what others decide meanwhile; whoever is about to decide has to hear of it.
  const { data: current } = useQuery({ ...approvalOf(approval.id), initialData: approval })
  const isOvertaken = current.status !== 'pending' && !decide.isPending && !decide.isSuccess
  const send = (decision: Decision) =>
    decide.mutate(decision, {
      onSuccess: (answer) => {
        setNote(undefined)
        say(decision.kind === 'deny' ? 'denied' : answer.status)
        onClose()
      },
      onError: (error) => {
        // May not decide here: the page of the approval tells the whole story.
        if (error instanceof Problem && error.status === 403) {
          void navigate({ to: '/approvals/$id', params: { id: approval.id } })
        }
      },
    })
  /** The list only lets go of what is decided, so what came of it is said. */
  const say = (came: string) => {
    const id = approval.run_id
    const tool = asking?.name ?? approval.tool
    const known = t('decided.running', { tool })
    const open = () => void navigate({ to: '/runs/$id', params: { id } })
    toast(
      t(`decided.${came}`, { tool, defaultValue: known }),
      came === 'error' || came === 'timed_out' ? 'bad' : 'good',
      mayReadRun ? { label: t('decided.open'), run: open } : undefined,
    )
  }
  if (isOvertaken) return <SettledDialog approval={current} unsent={note} onClose={onClose} />
  return (
    <DecideDialog
      approval={approval}
      tool={asking}
      kind={kind}
      note={note}
      onNote={(note) => setNote(note || undefined)}
      busy={decide.isPending}
      error={decide.error}
      onDecide={send}
      onClose={onClose}
    />
  )
}
