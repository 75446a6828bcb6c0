import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import {
  bracketMatching,
  foldGutter,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language'
import { type Diagnostic, linter, setDiagnostics } from '@codemirror/lint'
import { Annotation, EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useEffectEvent, useRef } from 'react'

import { parse, stringify } from '~/api/exact'
import { nonce } from '~/nonce'

interface Props {
  id: string
  label: string
  text: string
  isReadOnly?: boolean
  isTall?: boolean
  /** What is wrong is told at `<id>-fault`. */
  isInvalid?: boolean
  onChange: (text: string) => void
}

interface ViewProps extends Props {
  /** What it is a text of. Another one makes the editor anew. */
  language: Extension
  /** Whether two texts say the same, so that what is typed is not replaced. */
  isSame: (a: string, b: string) => boolean
  marks?: Mark[]
}

/** Something that is wrong in a line, counted from 1. */
export interface Mark {
  line: number
  message: string
}

/** Marks a change that came from outside, so that it is not told back. */
const fromOutside = Annotation.define<boolean>()

/** A text of JSON. */
export default function CodeEditor(props: Props) {
  return <CodeView {...props} language={jsonLanguage} isSame={isSameJson} />
}

const NO_MARKS: Mark[] = []

/** A text of some language. Tab leaves it, as everywhere else on the page. */
export function CodeView(props: ViewProps) {
  const { id, label, text, isReadOnly, isTall, isInvalid = false, onChange } = props
  const { language, isSame, marks = NO_MARKS } = props
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const first = useEffectEvent(() => text)
  const tell = useEffectEvent(onChange)

  useEffect(() => {
    if (!place.current) return
    const told = EditorView.updateListener.of(({ docChanged, state, transactions }) => {
      if (docChanged && !transactions.some((one) => one.annotation(fromOutside))) {
        tell(state.doc.toString())
      }
    })
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: first(),
        extensions: [
          looks,
          language,
          EditorState.readOnly.of(isReadOnly === true),
          EditorView.editable.of(!isReadOnly),
          EditorView.contentAttributes.of({
            id,
            'aria-label': label,
            'aria-describedby': `${id}-fault`,
            ...(isReadOnly ? { tabindex: '0' } : {}),
          }),
          told,
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [id, label, isReadOnly, language])

  useEffect(() => {
    const { state } = view.current ?? {}
    const before = state?.doc.toString()
    // The same value written another way is what the person is typing.
    if (!state || before === undefined || isSame(before, text)) return
    view.current?.dispatch({
      changes: { from: 0, to: state.doc.length, insert: text },
      annotations: fromOutside.of(true),
    })
  }, [text, isSame])

  useEffect(() => {
    const shown = view.current
    if (shown)
      shown.dispatch(
        setDiagnostics(
          shown.state,
          marks.map((mark) => inLine(shown, mark)),
        ),
      )
  }, [marks, language])

  useEffect(() => {
    view.current?.contentDOM.setAttribute('aria-invalid', String(isInvalid))
  }, [isInvalid, id, label, isReadOnly, language])

  return (
    <div
      ref={place}
      className={`overflow-hidden rounded-md border ${isInvalid ? 'border-bad' : 'border-line-strong'} focus-within:outline-2 focus-within:outline-accent ${isTall ? '[&_.cm-editor]:h-[32rem]' : '[&_.cm-editor]:max-h-96 [&_.cm-editor]:min-h-24'}`}
    />
  )
}

function inLine({ state }: EditorView, { line, message }: Mark): Diagnostic {
  const { from, to } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines))
  return { from, to, severity: 'error', message }
}

function isSameJson(a: string, b: string): boolean {
  if (a === b) return true
  try {
    return stringify(parse(a)) === stringify(parse(b))
  } catch {
    return false
  }
}

const checkJson = jsonParseLinter()

const jsonLanguage: Extension = [
  json(),
  // Nothing is no JSON, and no fault either.
  linter((view) => (view.state.doc.length === 0 ? [] : checkJson(view))),
]

const looks: Extension = [
  EditorView.cspNonce.of(nonce),
  history(),
  lineNumbers(),
  foldGutter(),
  indentOnInput(),
  indentUnit.of('  '),
  bracketMatching(),
  closeBrackets(),
  EditorView.lineWrapping,
  keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap]),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: tags.propertyName, color: 'var(--accent)' },
      { tag: tags.string, color: 'var(--good)' },
      { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--warn)' },
      { tag: tags.comment, color: 'var(--muted)' },
    ]),
  ),
  EditorView.theme({
    '&': { color: 'var(--text)', backgroundColor: 'var(--ground)', fontSize: '0.8125rem' },
    '&.cm-focused': { outline: 'none' },
    '.cm-scroller': { fontFamily: 'ui-monospace, monospace', lineHeight: '1.5' },
    '.cm-gutters': { color: 'var(--muted)', backgroundColor: 'var(--raised)', border: 'none' },
    '.cm-content': { caretColor: 'var(--text)' },
    '.cm-cursor': { borderLeftColor: 'var(--text)' },
    '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection': {
      backgroundColor: 'var(--accent-soft) !important',
    },
    '.cm-tooltip': { backgroundColor: 'var(--raised)', borderColor: 'var(--line)' },
    // The editor's own marks are pictures inside the style, which the page's policy does not load.
    '.cm-lintRange-error': {
      backgroundImage: 'none',
      textDecoration: 'underline wavy var(--bad) 1px',
    },
    '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)' },
  }),
]
