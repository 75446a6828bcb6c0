import { useNavigate } from '@tanstack/react-router'
import { useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from 'react'

import { stringify } from '~/api/exact'
import { useMay } from '~/api/me'
import { same } from '~/features/form/schema/json'
import { isObject } from '~/features/result/json'
import { useTranslation } from '~/i18n'
import { useFaultsOf } from '~/i18n/server-words'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import type { Answer, Tool } from './queries'
import type { ToolSearch } from './search'
import { ToolElsewhere } from './tool-elsewhere'
import { CopyLink, ToolExamples } from './tool-examples'
import { ToolHistory } from './tool-history'
import { fromLink, linkTo } from './tool-input'
import { LinkFaultNote, RestoredNote } from './tool-notes'
import { ToolResult } from './tool-result'
import { useShownRun } from './tool-shown-run'
import { useStart } from './tool-start'
import { useTyped } from './tool-typed'
import { ToolUnavailable } from './tool-unavailable'

// The form engine is heavy; name and description of the tool are read in the meantime.
const ToolForm = lazyPart(
  () => import('~/features/form/tool-form'),
  (module) => module.ToolForm,
)

const DOUBLE_CLICK_MS = 500

/** The form of a tool, and what came of it. */
export function ToolWorkbench({ tool, search }: { tool: Tool; search: ToolSearch }) {
  const { t } = useTranslation('tool')
  const navigate = useNavigate()
  const mayRun = useMay('tools.tenant.run')
  const shown = useShownRun(search.run, tool.slug)
  const runnable = tool.available && mayRun
  const link = useMemo(() => search.input && fromLink(search.input), [search.input])
  const typed = useTyped(tool.slug, search, runnable)
  const [value, setValue] = useState<unknown>(() =>
    link && 'input' in link ? link.input : (typed.restored ?? {}),
  )
  const result = useRef<HTMLElement>(null)

  const [asked, ask] = useAsked(shown)

  const onStarted = (answer: Answer, input: unknown) => {
    ask(answer.run_id, input)
    filled.current = answer.run_id
    shown.show(answer)
    // The address now names the run, so a reload shows it again instead of an empty page.
    void navigate({
      to: '/tools/$slug',
      params: { slug: tool.slug },
      search: { run: answer.run_id },
      replace: true,
      resetScroll: false,
    })
    bringIntoView(result.current)
  }
  const { start, run, giveUp, forget } = useStart(tool.slug, onStarted)

  const filled = useFilling(search, shown.record, typed.restored !== undefined, (input) => {
    setValue(input)
    typed.replace()
    forget()
  })

  const isChanged = asked !== undefined && !same(value, asked)
  const change = (next: unknown, byHand = true) => {
    setValue(next)
    // What the form adds of its own accord, such as defaults, nobody has changed.
    if (!byHand && shown.run && asked !== undefined && !isChanged) ask(shown.run.run_id, next)
    typed.keep(next, byHand)
    if (start.error !== undefined) forget()
  }
  const reset = () => {
    setValue({})
    typed.forget()
    forget()
  }
  const faults = useFaultsOf(start.error)
  const running = shown.run?.status === 'running' && shown.open
  const clicked = useRef({ at: Number.NEGATIVE_INFINITY, input: '' })
  // A quick tool is done before the second half of a double click, which is no second wish.
  const runOnce = (given: unknown) => {
    const [at, input] = [performance.now(), stringify(given)]
    if (at - clicked.current.at < DOUBLE_CLICK_MS && input === clicked.current.input) return
    clicked.current = { at, input }
    run(given)
  }
  return (
    <div className="grid min-w-0 gap-8">
      <div className="grid min-w-0 items-start gap-6 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
        <section
          aria-labelledby="input"
          className="grid min-w-0 gap-4 rounded-lg border border-line p-4 sm:p-5"
        >
          <div className="flex flex-wrap items-center justify-between gap-2">
            <h2 id="input" className="text-base font-semibold">
              {t('input')}
            </h2>
            <CopyLink tool={tool} value={value} />
          </div>
          {!runnable && <ToolUnavailable tool={tool} mayRun={mayRun} />}
          {link && 'fault' in link && <LinkFaultNote fault={link.fault} />}
          {typed.restored !== undefined && <RestoredNote onReset={reset} />}
          <ToolExamples tool={tool} onChoose={change} />
          <ToolForm
            fallback={<Skeleton className="h-64" />}
            tool={tool}
            value={value}
            onChange={change}
            faults={faults}
            onSubmit={runOnce}
            busy={start.state !== 'idle' || running}
            readOnly={!runnable}
          />
        </section>
        <ToolResult
          ref={result}
          tool={tool}
          runnable={runnable}
          start={start}
          shown={shown}
          isChanged={isChanged}
          onGiveUp={giveUp}
          here={() => linkTo('', tool.slug, value) ?? `/tools/${tool.slug}`}
        />
      </div>
      <div className="grid min-w-0 gap-8 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
        <ToolHistory slug={tool.slug} shown={search.run} runnable={runnable} />
        <ToolElsewhere slug={tool.slug} input={value} />
      </div>
    </div>
  )
}

/** The input that the shown run was asked with, as the form says it, and the way to note it. */
function useAsked({ run, record }: ReturnType<typeof useShownRun>) {
  const [noted, setNoted] = useState<{ run: string; input: unknown }>()
  const asked = run && noted?.run === run.run_id ? noted.input : record?.input
  return [asked, (run: string, input: unknown) => setNoted({ run, input })] as const
}

/** Shows the beginning of the result to who pressed the button far below it, or far above on a phone. */
function bringIntoView(result: HTMLElement | null) {
  if (!result) return
  const { top } = result.getBoundingClientRect()
  if (top < 0 || top > innerHeight * 0.75) result.scrollIntoView({ block: 'start' })
}

/**
 * Fills the form from an address that somebody followed: with the input of a link, or of an old run
 * once it is read. What was started here, or typed here before, is in the form already.
 */
function useFilling(
  { input, run }: ToolSearch,
  record: { run_id: string; input: unknown } | undefined,
  restored: boolean,
  onFill: (input: unknown) => void,
) {
  const filled = useRef(restored ? run : input)
  const fill = useEffectEvent(() => {
    if (run && record && filled.current !== run) {
      filled.current = run
      if (isObject(record.input)) onFill(record.input)
    } else if (!run && input && filled.current !== input) {
      filled.current = input
      const link = fromLink(input)
      if ('input' in link) onFill(link.input)
    }
  })
  // Before anything is painted: the run is not of an input that is about to go.
  useLayoutEffect(() => fill(), [input, run, record])
  return filled
}
