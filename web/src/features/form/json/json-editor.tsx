import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { bracketMatching } from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useEffectEvent, useRef } from 'react'

import type { Fault } from '~/api/problem'
import { nonce } from '~/nonce'
import { colours } from './colours'
import { locate } from './locate'

interface Props {
  text: string
  onChange: (text: string) => void
  label: string
  /** What is wrong with the value; marked where it stands. */
  faults: Fault[]
  readOnly?: boolean
  describedBy?: string
}

/** The colours are the page's own, so that the editor is light and dark with it. */
const theme = EditorView.theme({
  '&': { fontSize: '12px', backgroundColor: 'var(--ground)', color: 'var(--text)' },
  '.cm-content': { fontFamily: 'ui-monospace, monospace', caretColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--muted)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
  },
  // The editor's own marks are pictures inside the style, which the page's policy does not load.
  '.cm-lint-marker-error': {
    content: 'normal',
    borderRadius: '50%',
    backgroundColor: 'var(--bad)',
    transform: 'scale(0.6)',
  },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad) 1px',
  },
  '.cm-scroller': { minHeight: '12rem', maxHeight: '32rem', overflow: 'auto' },
})

/** A text editor for JSON. Tab leaves it, as it leaves any other field. */
export default function JsonEditor({
  text,
  onChange,
  label,
  faults,
  readOnly,
  describedBy,
}: Props) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const attributes = useRef(new Compartment())
  const change = useEffectEvent(onChange)
  const initial = useEffectEvent(() => text)
  const invalid = faults.length > 0

  useEffect(() => {
    if (!host.current) return
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: initial(),
        extensions: [
          lineNumbers(),
          history(),
          bracketMatching(),
          json(),
          colours,
          lintGutter(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.lineWrapping,
          EditorView.cspNonce.of(nonce),
          theme,
          EditorState.readOnly.of(readOnly ?? false),
          attributes.current.of([]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) change(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    return () => {
      editor.destroy()
      view.current = null
    }
  }, [readOnly])

  useEffect(() => {
    const editor = view.current
    if (!editor || editor.state.doc.toString() === text) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } })
  }, [text])

  useEffect(() => {
    const editor = view.current
    if (!editor) return
    // Said, so that programs which look for a way into what scrolls find it.
    const given: Record<string, string> = { 'aria-label': label, tabindex: '0' }
    if (invalid) given['aria-invalid'] = 'true'
    if (describedBy) given['aria-describedby'] = describedBy
    if (readOnly) given['aria-readonly'] = 'true'
    editor.dispatch({
      effects: attributes.current.reconfigure(EditorView.contentAttributes.of(given)),
    })
  }, [label, invalid, describedBy, readOnly])

  useEffect(() => {
    const editor = view.current
    if (!editor) return
    editor.dispatch(setDiagnostics(editor.state, diagnostics(editor, faults)))
  }, [faults, text])

  return <div ref={host} className="min-w-0 overflow-hidden rounded-md border border-line-strong" />
}

function diagnostics(editor: EditorView, faults: Fault[]): Diagnostic[] {
  const broken = editor.state.doc.toString().trim() === '' ? [] : jsonParseLinter()(editor)
  if (broken.length > 0) return broken
  return faults.map(({ path, message }) => ({
    ...locate(editor.state, path),
    severity: 'error',
    message,
  }))
}
