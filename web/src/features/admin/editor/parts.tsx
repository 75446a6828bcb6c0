import { X } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Field, Input, Select, Textarea } from '~/kit/field'
import { Switch } from '~/kit/switch'
import { idOf, useEditing, usePart } from './context'
import type { Definition, Key } from './definition'
import { NOT_WHOLE } from './fault-words'

/** The parts of a definition that hold values of a type. */
type KeyOf<T> = { [K in Key]: T extends Definition[K] ? K : never }[Key]

interface Common {
  label: string
  hint?: ReactNode
}

export function described(id: string, hint: unknown, fault: unknown): string | undefined {
  const ids = [hint ? `${id}-hint` : '', fault ? `${id}-fault` : ''].filter(Boolean)
  return ids.length > 0 ? ids.join(' ') : undefined
}

interface TextProps extends Common {
  name: KeyOf<string> & Exclude<Key, 'status'>
  isLong?: boolean
  isCode?: boolean
  fault?: string
  disabled?: boolean
}

export function TextPart({ name, label, hint, isLong, isCode, ...rest }: TextProps) {
  const part = usePart(name)
  const fault = rest.fault ?? part.fault
  const props = {
    id: part.id,
    value: part.value as string,
    disabled: rest.disabled || part.isFixed,
    'aria-invalid': fault !== undefined,
    'aria-describedby': described(part.id, hint, fault),
    className: isCode ? 'font-mono' : undefined,
  }
  return (
    <Field id={part.id} label={label} hint={hint} fault={fault}>
      {isLong ? (
        <Textarea {...props} rows={5} onChange={(event) => part.set(event.target.value)} />
      ) : (
        <Input {...props} onChange={(event) => part.set(event.target.value)} />
      )}
    </Field>
  )
}

export function SwitchPart({ name, label, hint }: Common & { name: KeyOf<boolean> }) {
  const part = usePart(name)
  return (
    <div className="flex items-start gap-3">
      <Switch
        id={part.id}
        checked={part.value === true}
        disabled={part.isFixed}
        aria-labelledby={`${part.id}-label`}
        aria-describedby={described(part.id, hint, part.fault)}
        onChange={(on) => part.set(on)}
      />
      <div className="grid min-w-0 gap-0.5">
        <span id={`${part.id}-label`} className="font-medium">
          {label}
        </span>
        {hint && (
          <span id={`${part.id}-hint`} className="text-xs text-muted">
            {hint}
          </span>
        )}
        {part.fault && (
          <span id={`${part.id}-fault`} className="text-xs text-bad">
            {part.fault}
          </span>
        )}
      </div>
    </div>
  )
}

interface ChoiceProps<K extends Key> extends Common {
  name: K
  options: { value: string; label: string; is: Definition[K] }[]
}

export function ChoicePart<K extends Key>({ name, label, hint, options }: ChoiceProps<K>) {
  const part = usePart(name)
  const chosen = options.find(({ is }) => is === part.value)
  return (
    <Field id={part.id} label={label} hint={hint} fault={part.fault}>
      <Select
        id={part.id}
        value={chosen?.value ?? ''}
        disabled={part.isFixed}
        aria-invalid={part.fault !== undefined}
        aria-describedby={described(part.id, hint, part.fault)}
        onChange={(event) => {
          const option = options.find(({ value }) => value === event.target.value)
          if (option) part.set(option.is)
        }}
      >
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
    </Field>
  )
}

interface NumberProps extends Common {
  /** Where it stands in the definition; what is no number yet is kept under it. */
  path: string
  value: number | null
  onChange: (value: number | null) => void
  fault?: string
  disabled?: boolean
}

/**
 * A whole number, or nothing. A box for text: the browser's own for numbers gives nothing away of what is no number, so
 * `12e` would be saved as if nobody had typed anything, and could not be kept.
 */
export function NumberInput({
  path,
  label,
  hint,
  value,
  onChange,
  disabled,
  ...rest
}: NumberProps) {
  const { t } = useTranslation('admin')
  const { unread, keepUnread } = useEditing()
  const id = idOf(path)
  const typed = unread[path]?.text
  const fault = typed === undefined ? rest.fault : t('fault.whole')
  const type = (text: string) => {
    const read = readWhole(text)
    keepUnread(path, read === undefined ? { why: NOT_WHOLE, text } : undefined)
    if (read !== undefined) onChange(read)
  }
  return (
    <Field id={id} label={label} hint={hint} fault={fault}>
      <Input
        id={id}
        inputMode="numeric"
        autoComplete="off"
        value={typed ?? value ?? ''}
        disabled={disabled}
        aria-invalid={fault !== undefined}
        aria-describedby={described(id, hint, fault)}
        onChange={(event) => type(event.target.value)}
      />
    </Field>
  )
}

/** The whole number that a text is; none at all is `null`. Without an answer it is neither. */
export function readWhole(text: string): number | null | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return null
  return /^-?\d{1,15}$/.test(trimmed) ? Number(trimmed) : undefined
}

/** Several words, such as tags. Enter or a comma takes one over. */
export function WordsPart({
  name,
  label,
  hint,
}: Common & { name: KeyOf<string[]> & ('tags' | 'aliases' | 'tenant_slugs') }) {
  const { t } = useTranslation('admin')
  const part = usePart(name)
  const [typed, setTyped] = useState('')
  const listId = useId()
  const words = part.value
  const take = (text: string) => {
    const fresh = text.split(',').map((word) => word.trim())
    part.set([...new Set([...words, ...fresh])].filter(Boolean))
    setTyped('')
  }
  return (
    <Field id={part.id} label={label} hint={hint} fault={part.fault}>
      <ul id={listId} aria-label={label} className="flex flex-wrap gap-1.5 empty:hidden">
        {words.map((word) => (
          <li
            key={word}
            className="flex min-w-0 items-center gap-1 rounded-full bg-sunken py-0.5 pr-1 pl-2.5 text-xs"
          >
            <span className="min-w-0 break-all">{word}</span>
            {!part.isFixed && (
              <button
                type="button"
                aria-label={t('editor.remove_word', { word })}
                className="rounded-full p-0.5 hover:bg-raised"
                onClick={() => part.set(words.filter((other) => other !== word))}
              >
                <X aria-hidden className="size-3" />
              </button>
            )}
          </li>
        ))}
      </ul>
      <Input
        id={part.id}
        value={typed}
        disabled={part.isFixed}
        placeholder={t('editor.add_word')}
        aria-invalid={part.fault !== undefined}
        aria-describedby={described(part.id, hint, part.fault)}
        onChange={({ target: { value } }) => (value.includes(',') ? take(value) : setTyped(value))}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            event.preventDefault()
            take(typed)
          }
        }}
        onBlur={() => typed && take(typed)}
      />
    </Field>
  )
}
