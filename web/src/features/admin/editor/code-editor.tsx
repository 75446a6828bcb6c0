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
import { linter } from '@codemirror/lint'
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

/** Marks a change that came from outside, so that it is not told back. */
const fromOutside = Annotation.define<boolean>()

/** A text of JSON. Tab leaves it, as everywhere else on the page. */
export default function CodeEditor(props: Props) {
  const { id, label, text, isReadOnly, isTall, isInvalid = false, onChange } = props
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
  }, [id, label, isReadOnly])

  useEffect(() => {
    const { state } = view.current ?? {}
    const before = state?.doc.toString()
    // The same value written another way is what the person is typing.
    if (!state || before === undefined || isSame(before, text)) return
    view.current?.dispatch({
      changes: { from: 0, to: state.doc.length, insert: text },
      annotations: fromOutside.of(true),
    })
  }, [text])

  useEffect(() => {
    view.current?.contentDOM.setAttribute('aria-invalid', String(isInvalid))
  }, [isInvalid, id, label, isReadOnly])

  return (
    <div
      ref={place}
      className={`overflow-hidden rounded-md border ${isInvalid ? 'border-bad' : 'border-line-strong'} focus-within:outline-2 focus-within:outline-accent ${isTall ? '[&_.cm-editor]:h-[32rem]' : '[&_.cm-editor]:max-h-96 [&_.cm-editor]:min-h-24'}`}
    />
  )
}

function isSame(a: string, b: string): boolean {
  if (a === b) return true
  try {
    return stringify(parse(a)) === stringify(parse(b))
  } catch {
    return false
  }
}

const checkJson = jsonParseLinter()

const looks: Extension = [
  EditorView.cspNonce.of(nonce),
  json(),
  // Nothing is no JSON, and no fault either.
  linter((view) => (view.state.doc.length === 0 ? [] : checkJson(view))),
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
      { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
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
    '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)' },
  }),
]
