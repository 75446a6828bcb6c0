import { type FormEvent, type KeyboardEvent, type MouseEvent, useMemo, useState } from 'react'

import { stringify } from '~/api/exact'
import type { Fault } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Boundary } from './boundary'
import { Fields } from './fields'
import { JsonPane, parse } from './json/json-pane'
import { ModeSwitch } from './mode-switch'
import { FormModel } from './model'
import { same } from './schema/json'
import { hasMoreThan } from './schema/size'
import { Summary } from './summary'
import { useDraft } from './use-draft'
import { useFaults } from './use-faults'
import { useOnce } from './use-once'

/** A form with more fields would take seconds to draw, and nobody could find their way in it. */
const FIELDS_MAX = 1_000

export interface ToolFormProps {
  tool: { slug: string; input_schema: unknown; form_spec?: unknown }
  /** The input being edited. */
  value: unknown
  /** Also called with what the form starts with, which nobody has typed. */
  onChange: (value: unknown, typed: boolean) => void
  /** Faults that the server answered; shown next to their fields until these change. */
  faults?: Fault[]
  /** Called with a valid value only. Without it there is no button. */
  onSubmit?: (value: unknown) => void
  submitLabel?: string
  busy?: boolean
  /** For those who may not run the tool, and want to know what it takes. */
  readOnly?: boolean
}

/** The input of a tool, as a form or as JSON. */
export function ToolForm(props: ToolFormProps) {
  const { tool, value, onChange, onSubmit, submitLabel, busy = false, readOnly = false } = props
  const { t } = useTranslation('form')
  const { slug, input_schema, form_spec } = tool
  const id = `f-${slug.replace(/[^\w-]/g, '-')}`
  const model = useMemo(() => new FormModel(input_schema, form_spec), [input_schema, form_spec])
  const { draft, sent, edit, replace } = useDraft(model, value, onChange, readOnly)
  const faults = useFaults(id, model, draft, sent, props.faults)
  const once = useOnce(busy)
  const isLarge = useMemo(() => hasMoreThan(FIELDS_MAX, draft), [draft])
  const [chosen, setMode] = useState<'form' | 'json'>(model.isForm ? 'form' : 'json')
  const mode = isLarge ? 'json' : chosen
  const [text, setText] = useState(() => written(sent))
  const [refused, setRefused] = useState(false)

  const read = useMemo(() => (mode === 'json' ? parse(text) : undefined), [mode, text])
  const parsed = mode === 'json' ? read : { value: sent }
  const broken = parsed === undefined
  // What came from elsewhere, such as an example, replaces the text; what was typed does not.
  if (mode === 'json' && parsed && !same(parsed.value, sent ?? {})) {
    setText(written(sent))
  }

  const choose = (next: 'form' | 'json') => {
    setRefused(next === 'form' && broken)
    if (next === 'form' && broken) return
    if (next === 'json') setText(written(sent))
    setMode(next)
  }
  const type = (next: string) => {
    setText(next)
    setRefused(false)
    const read = parse(next)
    if (read) replace(read.value)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // A form inside a dialog must not send the form around it.
    event.stopPropagation()
    if (busy || broken || !onSubmit) return
    if (faults.attempt()) once(() => onSubmit(sent))
  }

  return (
    <form
      noValidate
      data-form={id}
      onSubmit={submit}
      onKeyDownCapture={onSubmit && !readOnly ? submitByKeys : undefined}
      className="grid min-w-0 gap-5"
      aria-busy={busy || undefined}
    >
      {(model.spec.title || model.spec.description) && (
        <div className="grid gap-1">
          {model.spec.title && (
            <p className="text-base font-semibold break-words">{model.spec.title}</p>
          )}
          {model.spec.description && (
            <p className="break-words text-muted">{model.spec.description}</p>
          )}
        </div>
      )}
      {model.isForm && !isLarge && <ModeSwitch mode={mode} onChoose={choose} refused={refused} />}
      {model.isForm && isLarge && <p className="text-xs text-muted">{t('json.large')}</p>}
      <Summary count={faults.shown.length} loose={mode === 'form' ? faults.loose : []} />
      {mode === 'json' ? (
        <JsonPane
          id={id}
          text={text}
          onChange={type}
          faults={faults.all}
          broken={broken}
          readOnly={readOnly}
        />
      ) : (
        <Boundary
          fallback={
            <JsonPane
              id={id}
              text={text}
              onChange={type}
              faults={faults.all}
              broken={parse(text) === undefined}
              readOnly={readOnly}
            />
          }
        >
          {model.isEmpty && <p className="text-muted">{t('no_input')}</p>}
          <Fields
            id={id}
            model={model}
            draft={draft}
            onEdit={edit}
            onBlur={faults.touch}
            faults={faults.byField}
            readOnly={readOnly}
          />
        </Boundary>
      )}
      {onSubmit && !readOnly && (
        <div
          data-foot
          className="sticky bottom-0 z-10 -mx-1 flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line bg-ground px-1 py-3"
        >
          <Button
            type="submit"
            tone="primary"
            disabled={busy}
            aria-keyshortcuts="Control+Enter Meta+Enter"
            onClick={ignoreSecondHalf}
          >
            {busy && <Turning />}
            {submitLabel ?? model.spec.submitLabel ?? t('submit')}
          </Button>
          <kbd aria-hidden className="font-sans text-xs text-muted pointer-coarse:hidden">
            {t(IS_MAC ? 'submit_keys_mac' : 'submit_keys')}
          </kbd>
        </div>
      )}
    </form>
  )
}

export default ToolForm

/** The second half of a double click is no second wish, however long a slow page took over the first. */
function ignoreSecondHalf(event: MouseEvent) {
  if (event.detail > 1) event.preventDefault()
}

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** Ctrl or ⌘ with Enter sends the form from any of its controls, before the control can make something of it. */
function submitByKeys(event: KeyboardEvent<HTMLFormElement>) {
  const { currentTarget: form, target } = event
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  // What a control opens elsewhere on the page, such as a dialog, is no part of the form.
  if (!(target instanceof HTMLElement) || !form.contains(target)) return
  event.preventDefault()
  event.stopPropagation()
  if (event.repeat) return
  // Some controls take over what is typed when they are left; a click on the button would leave them, too.
  target.blur()
  setTimeout(() => {
    target.focus({ preventScroll: true })
    form.requestSubmit()
  })
}

function Turning() {
  return (
    <span
      aria-hidden
      className="size-3.5 animate-spin rounded-full border-2 border-current border-r-transparent"
    />
  )
}

function written(value: unknown): string {
  return stringify(value ?? {}, 2)
}
