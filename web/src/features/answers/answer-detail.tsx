import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'

import { useMay } from '~/api/me'
import { pendingAnswers } from '~/api/pending'
import { Problem } from '~/api/problem'
import { toolAt } from '~/api/tool-at'
import { ReadInput } from '~/features/form/read/read-input'
import { isObject } from '~/features/result/json'
import { Raw } from '~/features/result/raw'
import { Unsent } from '~/features/result/unsent'
import { useTranslation } from '~/i18n'
import { AskFacts } from '~/kit/ask-facts'
import { useKept } from '~/kit/kept'
import { KeySheet } from '~/kit/key-sheet'
import { useKeys } from '~/kit/keys'
import { useNow } from '~/kit/now'
import { usePageName } from '~/kit/title'
import { useOvertaken } from '~/kit/use-overtaken'
import { AnswerOutcome } from './answer-outcome'
import { AnswerPanel } from './answer-panel'
import { type Asked, isOpen, type Said, useAnswer } from './answer-queries'
import { DETAIL_KEYS } from './keys'
import { useAsks } from './use-asks'

/** Everything about one call that waits for a person, and the form to answer it. */
export function AnswerDetail({ call }: { call: Asked }) {
  const { t } = useTranslation('answers')
  const [draft, setDraft] = useKept<unknown>(`answer:${call.id}`)
  const [why = '', setWhy] = useKept<string>(`answer-cannot:${call.id}`)
  const outcome = useRef<HTMLHeadingElement>(null)
  const answer = useAnswer(call)
  // The run is not read: it is its caller's, and whoever answers need not be allowed to see it.
  const { data: tool } = useQuery(toolAt(call.tool, call.version, call.mode))
  usePageName(t('title.answer_of', { tool: tool?.name ?? call.tool, ns: 'app' }))
  const refusal = useRefusal(call)
  const problem = answer.error instanceof Problem ? answer.error : undefined
  const overtaken = problem?.status === 409 || problem?.status === 410
  const isDone = !isOpen(call)
  useNeighbours(call.id)

  const isOvertaken = useOvertaken({
    canEnd: !isDone && refusal === undefined,
    isDone,
    sent: answer,
    heading: outcome,
  })

  const send = (said: Said) => {
    if (answer.isPending || answer.isSuccess) return
    answer.mutate(said, {
      onSuccess: () => {
        setDraft(undefined)
        setWhy(undefined)
      },
    })
  }

  return (
    <div className="grid min-w-0 gap-5">
      <header className="grid min-w-0 gap-2">
        <div className="flex items-center justify-between gap-2 text-xs text-muted">
          <Link to="/approvals/answers" className="underline underline-offset-2">
            {t('title')}
          </Link>
          <KeySheet keys={DETAIL_KEYS} />
        </div>
        <Heading call={call} toolName={tool?.name ?? call.tool} />
        {tool?.description && <p className="break-words text-muted">{tool.description}</p>}
      </header>
      <div aria-live="polite" className="grid min-w-0 gap-4 empty:hidden">
        {(overtaken || isOvertaken) && (
          <p className="font-medium">
            {t(overtaken ? `overtaken_${problem.status}` : 'overtaken_before')}
          </p>
        )}
        {isDone && <AnswerOutcome call={call} tool={tool} heading={outcome} />}
        {isDone && !answer.isSuccess && (draft !== undefined || why !== '') && (
          <Unsent input={draft} note={why || undefined} />
        )}
        {!isDone && refusal && <p className="rounded-lg bg-warn-soft p-4 text-warn">{refusal}</p>}
        {!isDone && call.late && !refusal && (
          <p className="rounded-lg bg-warn-soft p-4 text-warn">{t('late_hint')}</p>
        )}
      </div>
      <div className="grid min-w-0 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="grid min-w-0 gap-6">
          <section
            aria-labelledby="asked-input"
            className="grid min-w-0 gap-4 rounded-lg border border-line p-4"
          >
            <h2 id="asked-input" className="text-base font-semibold">
              {t('input')}
            </h2>
            {tool && isObject(call.input) ? (
              <ReadInput tool={tool} value={call.input} />
            ) : (
              <Raw value={call.input ?? null} name={t('input')} />
            )}
          </section>
          {!isDone && !refusal && (
            <AnswerPanel
              call={call}
              draft={draft}
              onDraft={setDraft}
              why={why}
              onWhy={(why) => setWhy(why || undefined)}
              // What was taken is not sent twice, also where the call could not be read anew.
              busy={answer.isPending || answer.isSuccess}
              problem={overtaken ? undefined : answer.error}
              onAnswer={send}
            />
          )}
        </div>
        <AskFacts ask={call} isOpen={!isDone} idLabel={t('id')} copyLabel={t('copy_id')} />
      </div>
    </div>
  )
}

function Heading({ call, toolName }: { call: Asked; toolName: string }) {
  const asks = useAsks()
  return <h1 className="min-w-0 text-xl font-semibold break-words">{asks(call, toolName)}</h1>
}

/** Why this person cannot answer this one now, if so. */
function useRefusal(call: Asked): string | undefined {
  const { t } = useTranslation('answers')
  const answers = useMay('tools.tenant.run')
  const isOver = Date.parse(call.expires_at) <= useNow(1_000)
  if (call.waits_for !== 'person') return t('for_worker')
  if (!answers) return t('read_only')
  return isOver ? t('over') : undefined
}

/** The keys of the page: `j` and `k` lead to the next and the previous one that waits. */
function useNeighbours(id: string) {
  const navigate = useNavigate()
  const { data } = useQuery(pendingAnswers)
  const go = (by: number) => {
    const ids = data?.items.map((call) => call.id) ?? []
    const place = ids.indexOf(id)
    const next = place < 0 ? ids[0] : ids[place + by]
    if (next) void navigate({ to: '/approvals/answers/$id', params: { id: next } })
  }
  useKeys({ j: () => go(1), k: () => go(-1) })
}
