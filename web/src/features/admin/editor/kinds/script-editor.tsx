import { autocompletion, completionKeymap } from '@codemirror/autocomplete'
import { javascript } from '@codemirror/lang-javascript'
import { keymap } from '@codemirror/view'
import { useEffectEvent, useMemo } from 'react'

import { CodeView, type Mark } from '../code-editor'
import { completions } from './completions'

interface Props {
  id: string
  label: string
  text: string
  isTyped: boolean
  /** What the script is given, which is offered behind `input.`. */
  schema: unknown
  marks: Mark[]
  isReadOnly?: boolean
  isInvalid?: boolean
  onChange: (text: string) => void
}

/** A text of JavaScript or TypeScript. */
export default function ScriptEditor({ isTyped, schema, ...rest }: Props) {
  const known = useEffectEvent(() => schema)
  // The editor would be made anew with every change of the schema.
  const language = useMemo(
    () => [
      javascript({ typescript: isTyped }),
      autocompletion({ override: [completions(() => known())] }),
      keymap.of(completionKeymap),
    ],
    [isTyped],
  )
  return <CodeView {...rest} language={language} isSame={Object.is} isTall />
}
