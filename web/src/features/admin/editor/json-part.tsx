import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'

import { Skeleton } from '~/kit/states'
import { idOf, useEditing, usePart } from './context'
import { type Key, partOf } from './definition'

// The editor is heavy, and most people never open it.
const CodeEditor = lazy(() => import('./code-editor'))

interface Props {
  name: Key
  label: string
  hint?: string
  /** Whether nothing at all may stand there. */
  canBeNull?: boolean
  isTall?: boolean
}

/** A part of a definition as JSON. What is not JSON yet stays as it was typed. */
export function JsonPart({ name, label, hint, canBeNull, isTall }: Props) {
  const { t } = useTranslation('admin')
  const { value, set, isFixed } = usePart(name)
  const { unread, setUnread, faults } = useEditing()
  const shown = value === null ? '' : JSON.stringify(value, null, 2)
  const here = unread[name] === undefined ? faults.filter(({ path }) => partOf(path) === name) : []
  const type = (text: string) => {
    const read = parsed(text, canBeNull)
    setUnread((before) => {
      const next = { ...before, [name]: text }
      if (read) delete next[name]
      return next
    })
    if (read) set(read.value as never)
  }
  const id = idOf(`/${name}`)
  return (
    <div className="grid min-w-0 gap-1.5">
      <p id={`${id}-label`} className="font-medium">
        {label}
      </p>
      <Suspense fallback={<Skeleton className={isTall ? 'h-96' : 'h-28'} />}>
        <CodeEditor
          id={id}
          label={label}
          text={unread[name] ?? shown}
          isReadOnly={isFixed}
          isTall={isTall}
          isInvalid={here.length > 0 || unread[name] !== undefined}
          onChange={type}
        />
      </Suspense>
      {hint && <p className="text-xs text-muted">{hint}</p>}
      <div id={`${id}-fault`} className="grid gap-1 text-xs text-bad empty:hidden">
        {unread[name] !== undefined && <p>{t('editor.not_json')}</p>}
        {here.map(({ path, message }) => (
          <p key={path + message}>
            <code>{path.slice(name.length + 2)}</code> {message}
          </p>
        ))}
      </div>
    </div>
  )
}

function parsed(text: string, canBeNull?: boolean): { value: unknown } | undefined {
  if (text.trim() === '') return canBeNull ? { value: null } : undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && (value !== null || canBeNull) ? { value } : undefined
  } catch {
    return undefined
  }
}
