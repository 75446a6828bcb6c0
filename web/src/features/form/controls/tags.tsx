import { X } from 'lucide-react'
import { useRef, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Input } from '~/kit/field'
import { list } from '../schema/json'
import { aria, type ControlProps, shown } from './props'

/** A list of short texts: Enter or a comma ends one, Backspace in the empty field takes the last away. */
export function TagsControl(props: ControlProps) {
  const { t } = useTranslation('form')
  const { id, label, look, value, onChange, onBlur, readOnly } = props
  const [typed, setTyped] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const tags = list(value)
  const add = () => {
    const fresh = typed.trim()
    if (fresh !== '') onChange([...tags, fresh])
    setTyped('')
  }
  const remove = (index: number) => {
    onChange(tags.filter((_, other) => other !== index))
    input.current?.focus()
  }
  return (
    <div className="grid gap-2">
      {tags.length > 0 && (
        <ul aria-label={label} className="flex flex-wrap gap-1.5">
          {tags.map((tag, index) => (
            <li
              key={`${index}-${shown(tag)}`}
              className="flex min-h-6 max-w-full items-center gap-1 rounded-full bg-sunken px-2.5 text-xs"
            >
              <span className="min-w-0 truncate">{shown(tag)}</span>
              {!readOnly && (
                <button
                  type="button"
                  className="grid size-6 place-items-center rounded-full hover:bg-raised"
                  aria-label={t('list.remove_named', { name: shown(tag) })}
                  onClick={() => remove(index)}
                >
                  <X aria-hidden className="size-3" />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {!readOnly && (
        <Input
          ref={input}
          id={id}
          value={typed}
          placeholder={look.placeholder ?? t('tags')}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' || event.key === ',') {
              event.preventDefault()
              add()
            } else if (event.key === 'Backspace' && typed === '') {
              onChange(tags.slice(0, -1))
            }
          }}
          onBlur={() => {
            add()
            onBlur()
          }}
          {...aria(props)}
        />
      )}
    </div>
  )
}
