import { useMemo, useState } from 'react'

import { InputForm } from '~/features/form/input-form'
import { useTranslation } from '~/i18n'
import { useFaultsOf } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { Fault } from '~/kit/states'
import type { Asked, Said } from './answer-queries'
import { answerSchema, firstAnswer } from './answer-schema'
import { CannotDialog } from './cannot-dialog'

interface Props {
  call: Asked
  draft: unknown
  onDraft: (draft: unknown) => void
  /** Why there will be no answer, as far as it is typed. */
  why: string
  onWhy: (why: string) => void
  busy: boolean
  problem: unknown
  onAnswer: (said: Said) => void
}

/** The form that the tool's output schema makes, and the way to say that there will be no answer. */
export function AnswerPanel(props: Props) {
  const { call, draft, onDraft, busy, problem, onAnswer } = props
  const output = call.output_schema
  const { t } = useTranslation('answers')
  const [cannot, setCannot] = useState(false)
  const form = useMemo(() => {
    const input_schema = answerSchema(output)
    return { slug: `answer-${call.id}`, input_schema, form_spec: null }
  }, [call.id, output])
  const faults = useFaultsOf(problem)
  return (
    <section
      aria-labelledby="answer"
      className="grid min-w-0 gap-4 rounded-lg border border-line p-4"
    >
      <div className="grid gap-1">
        <h2 id="answer" className="text-base font-semibold">
          {t('answer')}
        </h2>
        {output == null && <p className="text-muted">{t('any_json')}</p>}
      </div>
      <InputForm
        tool={form}
        value={draft === undefined ? firstAnswer(form.input_schema) : draft}
        onChange={(value, typed) => typed && onDraft(value)}
        faults={faults}
        onSubmit={(result) => onAnswer({ result })}
        submitLabel={t('send')}
        busy={busy}
      />
      {problem != null && !cannot && <Fault error={problem} />}
      <div>
        <Button tone="danger" disabled={busy} onClick={() => setCannot(true)}>
          {t('cannot')}
        </Button>
      </div>
      {cannot && (
        <CannotDialog
          tool={call.tool}
          why={props.why}
          onWhy={props.onWhy}
          busy={busy}
          error={problem}
          onSend={(error) => onAnswer({ error })}
          onClose={() => setCannot(false)}
        />
      )}
    </section>
  )
}
