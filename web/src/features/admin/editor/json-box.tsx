import type { ReactNode } from 'react'

import { parse, stringify } from '~/api/exact'
import { useTranslation } from '~/i18n'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { useEditing } from './context'
import { NOT_JSON } from './fault-words'

// The editor is heavy, and most people never open it.
const CodeEditor = lazyPart(
  () => import('./code-editor'),
  (module) => module.default,
)

interface Props {
  id: string
  /** Where it stands in the definition; text that is not JSON yet is kept under it. */
  path: string
  label: string
  hint?: ReactNode
  /** Nothing at all is shown as an empty box. */
  value: unknown
  /** Whether the box may hold this; `undefined` stands for an empty box. */
  fits: (value: unknown) => boolean
  onChange: (value: unknown) => void
  /** What is wrong with it. */
  faults?: ReactNode
  isInvalid?: boolean
  isReadOnly?: boolean
  isTall?: boolean
}

/** Something of a definition as JSON. What is not JSON yet stays as it was typed. */
export function JsonBox(props: Props) {
  const { id, path, label, hint, value, fits, onChange, faults, isInvalid, isTall } = props
  const { t } = useTranslation('admin')
  const { unread, keepUnread } = useEditing()
  const typed = unread[path]?.text
  const type = (text: string) => {
    const read = readJson(text)
    const isFit = read !== undefined && fits(read.value)
    keepUnread(path, isFit ? undefined : { why: NOT_JSON, text })
    if (isFit) onChange(read.value)
  }
  return (
    <div className="grid min-w-0 gap-1.5">
      <p id={`${id}-label`} className="font-medium">
        {label}
      </p>
      <CodeEditor
        fallback={<Skeleton className={isTall ? 'h-96' : 'h-28'} />}
        id={id}
        label={label}
        text={typed ?? (value === undefined ? '' : stringify(value, 2))}
        isReadOnly={props.isReadOnly}
        isTall={isTall}
        isInvalid={isInvalid || typed !== undefined}
        onChange={type}
      />
      {hint && <div className="text-xs text-muted">{hint}</div>}
      <div id={`${id}-fault`} className="grid gap-1 text-xs text-bad empty:hidden">
        {typed !== undefined ? <p>{t('editor.not_json')}</p> : faults}
      </div>
    </div>
  )
}

/** What a text says; nothing at all is `undefined`. Without an answer it is no JSON. */
export function readJson(text: string): { value: unknown } | undefined {
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: parse(text) }
  } catch {
    return undefined
  }
}
