import { useMutation, useQuery } from '@tanstack/react-query'
import { Component, type ReactNode, useDeferredValue, useState } from 'react'

import { api, body, queryClient } from '~/api/client'
import { useMay } from '~/api/me'
import { type Fault as FaultAt, Problem } from '~/api/problem'
import { hasEnded, runOf } from '~/api/runs'
import type { components } from '~/api/schema'
import { same } from '~/features/form/schema/json'
import { useLiveText } from '~/features/result/live-text'
import { Stale } from '~/features/result/stale'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { lazyPart } from '~/kit/lazy-part'
import { useNow } from '~/kit/now'
import { Fault, Skeleton } from '~/kit/states'
import { duration } from '~/kit/time'
import { type Editing, useEditing } from './context'
import { bodyOf, changesOf, type Definition } from './definition'
import { plainly, usePlaceName } from './fault-words'
import { LAST_OUTPUTS } from './kinds/queries'
import { faultOfSlug } from './slug'

type TestRequest = components['schemas']['TestRequest']
type RunAnswer = components['schemas']['RunAnswer']

// The form brings a whole engine with it.
const ToolForm = lazyPart(
  () => import('~/features/form/tool-form'),
  (module) => module.ToolForm,
)
const RunResult = lazyPart(
  () => import('~/features/result/run-result'),
  (module) => module.RunResult,
)

const RunWaiting = lazyPart(
  () => import('~/features/result/run-waiting'),
  (module) => module.RunWaiting,
)

/** The form that people will see. Sending it tries the tool as it is typed here, saved or not. */
export function TestPanel() {
  const { t } = useTranslation('admin')
  const editing = useEditing()
  const { base, definition, isDirty, isOverride } = editing
  const [input, setInput] = useState<unknown>({})
  const test = useMutation({
    mutationFn: (input: unknown) => tried(editing, input),
    // What its steps gave is offered where values are inserted.
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: LAST_OUTPUTS }),
  })
  const [tested, setTested] = useState<Tested>()
  const isStale =
    tested !== undefined && !(same(tested.input, input) && runsAlike(tested.definition, definition))
  const run = useFollowed(test.data)
  const text = useLiveText(run && !hasEnded(run.status) ? run : undefined)
  const shown = useDeferredValue(definition)
  const { slug, input_schema, form_spec } = shown
  const hasSlug = base !== undefined || faultOfSlug(definition.slug) === undefined
  const faults = test.error instanceof Problem ? inputFaults(test.error) : NONE
  const change = (next: unknown, byHand: boolean) => {
    setInput(next)
    // What the form adds of its own accord, such as defaults, nobody has changed.
    if (!byHand && tested && same(tested.input, input)) setTested({ ...tested, input: next })
  }
  const start = (input: unknown) => {
    setTested({ input, definition })
    test.mutate(input)
  }
  return (
    <section
      aria-labelledby="test-title"
      className="grid min-w-0 gap-4 rounded-lg border border-line p-4 lg:sticky lg:top-36 lg:max-h-[calc(100dvh-10rem)] lg:overflow-y-auto"
    >
      <div className="grid gap-1">
        <h2 id="test-title" className="font-semibold">
          {t('test.title')}
        </h2>
        <p className="text-xs text-muted">
          {t(isOverride ? 'test.of_program' : isDirty || !base ? 'test.unsaved' : 'test.saved')}
        </p>
      </div>
      <Unbroken of={input_schema} text={t('test.no_form')}>
        <ToolForm
          fallback={<Skeleton className="h-32" />}
          tool={{ slug: slug || 'new', input_schema, form_spec }}
          value={input}
          onChange={change}
          faults={faults}
          onSubmit={hasSlug ? start : undefined}
          submitLabel={t('test.run')}
          busy={test.isPending}
        />
      </Unbroken>
      {!hasSlug && <p className="text-xs text-muted">{t('test.needs_slug')}</p>}
      <div aria-live="polite" className="min-w-0">
        {test.error && faults.length === 0 && <Refused error={test.error} />}
        {run && (
          <div className="grid min-w-0 gap-3">
            {isStale && <Stale text={t('test.stale')} />}
            <RunResult fallback={<Skeleton className="h-24" />} run={run} tool={shown} level={3} />
            {!hasEnded(run.status) && (
              <>
                {text && <LiveText text={text} />}
                <GoesOn id={run.run_id} since={test.submittedAt} />
                <RunWaiting id={run.run_id} newTab />
              </>
            )}
          </div>
        )}
      </div>
    </section>
  )
}

/** What the tool has written so far. Read out piece by piece it would be noise: the result is read out as a whole. */
function LiveText({ text }: { text: string }) {
  const { t } = useTranslation('admin')
  return (
    <pre
      tabIndex={0}
      aria-label={t('test.live_text')}
      aria-live="off"
      className="max-h-80 overflow-auto rounded-md border border-line bg-raised p-3 font-mono text-xs whitespace-pre-wrap"
    >
      {text}
    </pre>
  )
}

/** A test that takes its time: how long it has taken, and the way to end it. */
function GoesOn({ id, since }: { id: string; since: number }) {
  const { t } = useTranslation('admin')
  const now = useNow(1_000)
  const own = useMay('runs.own.cancel')
  const all = useMay('runs.tenant.cancel')
  const cancel = useMutation({
    mutationFn: () =>
      body(api.POST('/api/runs/{id}/cancel', { params: { path: { id } }, body: {} })),
    // Also after an error: it may have ended by itself in the meantime. Nobody waits for that.
    onSettled: () => void queryClient.invalidateQueries({ queryKey: ['runs'] }),
  })
  const seconds = Math.max(1, Math.floor((now - since) / 1_000))
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2 text-xs text-muted">
        <p>{t('test.goes_on')}</p>
        {/* Read out once a second it would drown everything else. */}
        <p aria-live="off" className="tabular-nums">
          {t('test.elapsed', { time: duration(seconds * 1_000) })}
        </p>
        {(own || all) && (
          <Button size="small" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
            {t('test.cancel')}
          </Button>
        )}
      </div>
      {cancel.error && <Fault error={cancel.error} />}
    </>
  )
}

/** A run as it stands now: one that was not over when it was answered is asked for until it is. */
function useFollowed(answer: RunAnswer | undefined) {
  const isOpen = answer !== undefined && !hasEnded(answer.status)
  const { data } = useQuery({ ...runOf(answer?.run_id ?? ''), enabled: isOpen })
  return isOpen && data?.run_id === answer.run_id ? data : answer
}

/** What the server says against a definition, all of it: a test asks it of everything that is typed. */
function Refused({ error }: { error: unknown }) {
  const { t } = useTranslation('admin')
  const { definition } = useEditing()
  const nameOf = usePlaceName()
  const errors = error instanceof Problem ? error.errors : []
  if (errors.length === 0) return <Fault error={error} />
  return (
    <div role="alert" className="grid gap-2 rounded-lg border border-bad bg-bad-soft p-4 text-bad">
      <p className="font-medium">{t('test.refused')}</p>
      <ul className="grid gap-1">
        {errors.map((fault) => {
          const { path, message } = fault
          const place = path.replace(IN_DEFINITION, '')
          const { label, below } = nameOf(place)
          return (
            <li key={path + message} className="break-words">
              {label}
              {below && <code> {below}</code>}: {plainly(t, { ...fault, path: place }, definition)}
            </li>
          )
        })}
      </ul>
    </div>
  )
}

/** How long a test is waited for. One that takes longer is followed, so that it can be seen to go on, and ended. */
const WAIT_MS = 2_000

/** What a model says is shown from its first word on. */
const waitFor = (kind: string) => (kind === 'prompt' ? 0 : WAIT_MS)

/** What a test was asked with. */
interface Tested {
  input: unknown
  definition: Definition
}

/** What a run depends on. Names and switches change nothing in what a test gives. */
const RUN_BY = [
  'input_schema',
  'output_schema',
  'implementation_type',
  'implementation',
  'execution_spec',
  'timeout_ms',
  'execution',
] as const

function runsAlike(one: Definition, other: Definition): boolean {
  return one === other || RUN_BY.every((key) => same(one[key], other[key]))
}

const NONE: FaultAt[] = []
const IN_DEFINITION = '/definition'

/** The faults of the input, for the form. Those of the definition are not about any field of it. */
function inputFaults({ code, errors }: Problem): FaultAt[] {
  const isInput = code === 'INVALID_PARAMS' || code === 'MISSING_PARAM'
  return isInput && !errors.some(({ path }) => path.startsWith(IN_DEFINITION)) ? errors : NONE
}

/** Tries what is typed. Of a tool that there is only the changes are sent, and of the program's none. */
async function tried(editing: Editing, input: unknown): Promise<RunAnswer> {
  const { base, before, definition, isOverride } = editing
  const typed = base ? changesOf(before, definition) : bodyOf(definition)
  const isSaved = isOverride || (base !== undefined && Object.keys(typed).length === 0)
  const tool = base?.slug ?? definition.slug
  const sent = {
    input,
    definition: isSaved ? undefined : typed,
    wait_ms: waitFor(definition.implementation_type),
  }
  const request = sent as TestRequest
  return body(api.POST('/api/tools/{tool}/test', { params: { path: { tool } }, body: request }))
}

interface UnbrokenProps {
  /** What the children are made of. Once it changes they are tried again. */
  of: unknown
  text: string
  children: ReactNode
}

/** A schema that is half typed can break its form. The rest of the page must not break with it. */
export class Unbroken extends Component<UnbrokenProps, { isBroken: boolean }> {
  override state = { isBroken: false }

  static getDerivedStateFromError() {
    return { isBroken: true }
  }

  override componentDidUpdate(before: UnbrokenProps) {
    if (this.state.isBroken && before.of !== this.props.of) this.setState({ isBroken: false })
  }

  override render() {
    return this.state.isBroken ? (
      <p className="text-muted">{this.props.text}</p>
    ) : (
      this.props.children
    )
  }
}
