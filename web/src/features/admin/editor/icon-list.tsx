import names from 'virtual:icons/names'
import { Check } from 'lucide-react'
import { type KeyboardEvent, useDeferredValue, useEffect, useRef, useState } from 'react'

import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'
import { Input } from '~/kit/field'
import { ToolIcon } from '~/kit/tool-icon'
import { TOOL_ICONS } from '~/kit/tool-icons'
import { iconsFor } from './icon-search'

const SHOWN = 60
const USUAL = Object.keys(TOOL_ICONS).sort()
const LIST = 'icon-list'

interface Props {
  chosen: string
  onChoose: (name: string) => void
}

/** Every icon, found by what is typed. The arrow keys move among them, Enter takes one. */
export default function IconList({ chosen, onChoose }: Props) {
  const { t } = useTranslation('admin')
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const list = useRef<HTMLUListElement>(null)
  const found = iconsFor(names, useDeferredValue(typed), USUAL)
  const shown = found.slice(0, SHOWN)
  const current = Math.min(at, shown.length - 1)
  useEffect(() => {
    list.current?.children[current]?.scrollIntoView?.({ block: 'nearest' })
  }, [current])
  const press = (event: KeyboardEvent) => {
    const next = { ArrowDown: current + 1, ArrowUp: current - 1 }[event.key]
    if (next !== undefined) {
      event.preventDefault()
      setAt((next + shown.length) % Math.max(1, shown.length))
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      const name = shown[current]
      if (name) onChoose(name)
    }
  }
  return (
    <div className="grid min-w-0 gap-3">
      <Input
        data-first
        // The list comes after the dialog is open, which could not put the focus here.
        autoFocus
        role="combobox"
        aria-label={t('icon.search')}
        aria-expanded
        aria-controls={LIST}
        aria-autocomplete="list"
        aria-activedescendant={shown[current] ? `${LIST}-${shown[current]}` : undefined}
        autoComplete="off"
        placeholder={t('icon.search_hint')}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value)
          setAt(0)
        }}
        onKeyDown={press}
      />
      <p role="status" className="text-xs text-muted">
        {found.length === 0
          ? t('icon.nothing')
          : found.length > SHOWN
            ? t('icon.more', { count: found.length, shown: SHOWN })
            : t('icon.found', { count: found.length })}
      </p>
      <ul
        ref={list}
        id={LIST}
        role="listbox"
        aria-label={t('icon.icons')}
        className="grid h-80 auto-rows-min overflow-y-auto sm:grid-cols-2"
      >
        {shown.map((name, index) => (
          <li
            key={name}
            id={`${LIST}-${name}`}
            role="option"
            aria-selected={name === chosen}
            className={cn('flex min-w-0 cursor-pointer items-center gap-2.5 rounded px-2 py-1.5', {
              'bg-accent-soft text-accent': index === current,
            })}
            onPointerMove={() => setAt(index)}
            onClick={() => onChoose(name)}
          >
            <ToolIcon name={name} />
            <span className="min-w-0 flex-1 truncate">{name}</span>
            {name === chosen && <Check aria-hidden className="size-4 shrink-0" />}
          </li>
        ))}
      </ul>
    </div>
  )
}
