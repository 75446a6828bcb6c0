import { useState } from 'react'

import { actorOf } from '~/api/actor'
import { ReadInput } from '~/features/form/read/read-input'
import { Raw } from '~/features/result/raw'
import { useTranslation } from '~/i18n'
import { useFaultsOf } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Field, Textarea } from '~/kit/field'
import { LevelBadge } from '~/kit/level-badge'
import { useNaming } from '~/kit/people'
import { Fault } from '~/kit/states'
import type { Approval, Decision } from './approval-queries'
import { ChangesTable } from './changes-table'
import { diff } from './diff'
import { canStand, FIRST_CHOICE, isOfStanding, wishOf } from './standing'
import { StandingFields } from './standing-fields'
import type { AskingTool } from './use-tools'

interface Props {
  approval: Approval
  /** Missing while it is read, and where it is no more. */
  tool: AskingTool | undefined
  kind: Decision['kind']
  /** Another input than the one asked for; its differences are shown. */
  input?: unknown
  /** Whether later calls are to be approved as well, unless somebody chooses otherwise. */
  isStanding?: boolean
  note: string
  onNote: (note: string) => void
  busy: boolean
  error: unknown
  onDecide: (decision: Decision) => void
  onClose: () => void
}

/** The second look before a decision that cannot be taken back. */
export function DecideDialog(props: Props) {
  const { approval, tool, kind, input, note, onNote, busy, error, onDecide, onClose } = props
  const { t } = useTranslation('approvals')
  const name = useNaming()
  const faults = useFaultsOf(error)
  const [whole, setWhole] = useState(false)
  const [standing, setStanding] = useState(props.isStanding ? FIRST_CHOICE : undefined)
  const changes = input === undefined ? [] : diff(approval.input, input)
  const isDestructive = approval.level === 'destructive'
  const action = kind === 'deny' ? 'deny' : changes.length > 0 ? 'approve_changed' : 'approve'
  const who = name(actorOf(approval.requested_by))
  const canChoose = kind === 'approve' && canStand(approval)
  const sentence = kind === 'deny' ? 'deny' : canChoose && standing ? 'approve_standing' : 'approve'
  // Without any field every input would do.
  const isVague = canChoose && standing?.fields?.length === 0
  return (
    <Dialog
      open
      onClose={onClose}
      title={t(`dialog.${action}`, { tool: tool?.name ?? approval.tool })}
      description={t(`sentence.${sentence}`, { who })}
    >
      <form
        className="grid min-w-0 gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (busy || isVague) return
          const wish = standing && wishOf(standing)
          const edited = changes.length > 0 ? input : undefined
          onDecide({ kind, note, input: edited, ...(canChoose && { standing: wish }) })
        }}
      >
        {kind === 'approve' && isDestructive && (
          <div className="grid justify-items-start gap-2 rounded-md border border-bad bg-bad-soft p-3 text-bad">
            <LevelBadge level={approval.level} />
            <p>{t('destructive_warning')}</p>
          </div>
        )}
        {changes.length > 0 ? (
          <ChangesTable changes={changes} tool={tool} input={input} />
        ) : (
          <details open={whole} onToggle={(event) => setWhole(event.currentTarget.open)}>
            <summary className="cursor-pointer font-medium">{t('show_input')}</summary>
            <div className="mt-2">
              {tool ? (
                <ReadInput tool={tool} value={approval.input} />
              ) : (
                <Raw value={approval.input} name={t('input')} />
              )}
            </div>
          </details>
        )}
        {canChoose && (
          <StandingFields
            approval={changes.length > 0 ? { ...approval, input } : approval}
            tool={tool}
            who={who}
            chosen={standing}
            fault={isOfStanding(error) ? faults[0]?.message : undefined}
            onChoose={setStanding}
          />
        )}
        <Field id="decision-note" label={t('note')}>
          <Textarea
            id="decision-note"
            data-first={kind === 'deny' || undefined}
            maxLength={1000}
            value={note}
            onChange={(event) => onNote(event.target.value)}
          />
        </Field>
        {error != null && !isOfStanding(error) && <Fault error={error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button data-first={isDestructive || undefined} onClick={onClose}>
            {t('dialog.back')}
          </Button>
          <Button
            type="submit"
            data-first={(kind === 'approve' && !isDestructive) || undefined}
            tone={kind === 'deny' || isDestructive ? 'danger' : 'primary'}
            disabled={busy || isVague}
          >
            {t(`confirm.${canChoose && standing ? 'approve_standing' : action}`)}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
