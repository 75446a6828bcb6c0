import { useQueryClient } from '@tanstack/react-query'
import { CircleCheck, CircleX, Clock, LoaderCircle } from 'lucide-react'
import { useState } from 'react'

import { InputDigest } from '~/features/form/read/input-digest'
import { useTranslation } from '~/i18n'
import { errorWords } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { Dialog } from '~/kit/dialog'
import { Field, Textarea } from '~/kit/field'
import { ScrollBox } from '~/kit/scroll-box'
import { toast } from '~/kit/toast'
import { type Approval, type Decision, decideOn } from './approval-queries'
import { decideAll, type Fate, tally } from './batch'
import type { AskingTool } from './use-tools'
import { useWants } from './words'

/** A quick tool is done by then; of the others it is enough to know that they run. */
const WAIT_MS = 3_000
const WAITING: Fate = { state: 'waiting' }

interface Props {
  approvals: Approval[]
  kind: Decision['kind']
  toolOf: (approval: Approval) => AskingTool | undefined
  onClose: () => void
}

/** Decides on several at once: a look at all of them, then how each of them goes. */
export function BatchDialog({ approvals: asked, kind, toolOf, onClose }: Props) {
  const { t } = useTranslation('approvals')
  const queries = useQueryClient()
  // The list behind lets go of what is decided; here it stays until somebody has read how it went.
  const [approvals] = useState(asked)
  const [note, setNote] = useState('')
  const [fates, setFates] = useState<ReadonlyMap<string, Fate>>(new Map())
  const [phase, setPhase] = useState<'asking' | 'sending' | 'done'>('asking')
  const count = approvals.length
  const settled = [...tally(fates.values()).values()].reduce((sum, part) => sum + part, 0)

  const send = async () => {
    setPhase('sending')
    const found = new Map<string, Fate>()
    await decideAll(
      approvals.map(({ id }) => id),
      async (id) => {
        const answer = await decideOn(id, { kind, note }, WAIT_MS)
        return kind === 'deny' ? 'denied' : answer.status
      },
      (id, fate) => {
        found.set(id, fate)
        setFates(new Map(found))
      },
    )
    void queries.invalidateQueries({ queryKey: ['approvals'] })
    void queries.invalidateQueries({ queryKey: ['runs'] })
    const came = tally(found.values())
    const parts = [...came].map(([word, count]) => t(`batch.came.${word}`, { count }))
    const isBad = ['failed', 'error', 'timed_out'].some((word) => came.has(word))
    toast(parts.join(' '), isBad ? 'bad' : 'good')
    // Who has something to read stays; the others go on with the list.
    if (came.has('failed')) setPhase('done')
    else onClose()
  }

  return (
    <Dialog
      open
      onClose={() => phase !== 'sending' && onClose()}
      title={t(`batch.title_${kind}`, { count })}
      description={phase === 'asking' ? t(`batch.text_${kind}`, { count }) : undefined}
    >
      <form
        className="grid min-w-0 gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (phase === 'asking') void send()
        }}
      >
        <ScrollBox label={t('batch.label')} role="group" className="max-h-80">
          <ul className="divide-y divide-line">
            {approvals.map((approval) => (
              <Row
                key={approval.id}
                approval={approval}
                tool={toolOf(approval)}
                fate={phase === 'asking' ? undefined : (fates.get(approval.id) ?? WAITING)}
              />
            ))}
          </ul>
        </ScrollBox>
        {phase === 'asking' ? (
          <Field id="batch-note" label={t('batch.note')}>
            <Textarea
              id="batch-note"
              data-first={kind === 'deny' || undefined}
              maxLength={1000}
              value={note}
              onChange={(event) => setNote(event.target.value)}
            />
          </Field>
        ) : (
          <div className="grid gap-1.5">
            <p aria-live="polite">{t('batch.progress', { settled, count })}</p>
            <progress className="h-2 w-full accent-accent" max={count} value={settled}>
              {settled}
            </progress>
          </div>
        )}
        <div className="flex flex-wrap justify-end gap-2">
          {phase !== 'sending' && (
            <Button onClick={onClose}>
              {phase === 'done' ? t('close', { ns: 'app' }) : t('dialog.back')}
            </Button>
          )}
          {phase !== 'done' && (
            <Button
              type="submit"
              data-first={kind === 'approve' || undefined}
              tone={kind === 'deny' ? 'danger' : 'primary'}
              disabled={phase === 'sending'}
            >
              {t(`batch.${kind}`, { count })}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

function Row({
  approval,
  tool,
  fate,
}: {
  approval: Approval
  tool: AskingTool | undefined
  fate: Fate | undefined
}) {
  const wants = useWants()
  return (
    <li className="grid min-w-0 gap-0.5 px-3 py-2 text-xs">
      <p className="font-medium break-words">{wants(approval, tool?.name ?? approval.tool)}</p>
      <p className="min-w-0">
        <InputDigest tool={tool} input={approval.input} />
      </p>
      {fate && <FateLine fate={fate} />}
    </li>
  )
}

const LOOKS = { waiting: Clock, sending: LoaderCircle, done: CircleCheck, failed: CircleX }

function FateLine({ fate }: { fate: Fate }) {
  const { t } = useTranslation('approvals')
  const Icon = LOOKS[fate.state]
  const isBad = fate.state === 'failed' || (fate.state === 'done' && BAD.has(fate.came))
  const words =
    fate.state === 'failed'
      ? t('batch.fate.failed', { why: errorWords(fate.error) })
      : fate.state === 'done'
        ? t(`batch.fate.${fate.came}`, { defaultValue: t('batch.fate.running') })
        : t(`batch.fate.${fate.state}`)
  return (
    <p
      className={cn('flex items-start gap-1.5', {
        'text-muted': fate.state === 'waiting' || fate.state === 'sending',
        'text-good': fate.state === 'done' && !isBad,
        'text-bad': isBad,
      })}
    >
      <Icon aria-hidden className="mt-px size-3.5 shrink-0" />
      <span className="min-w-0 break-words">{words}</span>
    </p>
  )
}

const BAD = new Set(['error', 'timed_out', 'cancelled'])
