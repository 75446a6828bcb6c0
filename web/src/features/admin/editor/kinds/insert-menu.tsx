import { Braces } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { type RefObject, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import { Button } from '~/kit/button'
import type { Source } from './steps'
import { inserted } from './values'

interface Props {
  /** What the box is called that it writes into. */
  name: string
  sources: Source[]
  box: RefObject<HTMLInputElement | HTMLTextAreaElement | null>
  onChange: (text: string) => void
}

/** Puts an expression where the cursor is in a box, and gives the box the focus again. */
export function InsertMenu({ name, sources, box, onChange }: Props) {
  const { t } = useTranslation('kinds')
  const cursor = useRef<number>(undefined)
  if (sources.length === 0) return null
  const insert = (expression: string) => {
    const { value = '', selectionStart, selectionEnd } = box.current ?? {}
    const from = selectionStart ?? value.length
    cursor.current = from + expression.length
    onChange(inserted(value, from, selectionEnd ?? from, expression))
  }
  const goOn = (event: Event) => {
    if (cursor.current === undefined) return
    event.preventDefault()
    box.current?.focus()
    box.current?.setSelectionRange(cursor.current, cursor.current)
    cursor.current = undefined
  }
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button size="icon" className="shrink-0" aria-label={t('insert', { name })}>
          <Braces aria-hidden />
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          collisionPadding={8}
          onCloseAutoFocus={goOn}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) max-w-[min(28rem,calc(100vw-1rem))] min-w-48 overflow-y-auto rounded-md border border-line bg-ground p-1 shadow-lg"
        >
          {sources.map(({ step, expressions }) => (
            <DropdownMenu.Group key={step ?? ''} className="grid min-w-0">
              <DropdownMenu.Label className="px-2 py-1 text-xs text-muted">
                {step === undefined ? t('insert_inputs') : t('insert_step', { id: step })}
              </DropdownMenu.Label>
              {expressions.map((expression) => (
                <DropdownMenu.Item
                  key={expression}
                  onSelect={() => insert(expression)}
                  className="rounded px-2 py-1.5 font-mono text-xs break-all outline-none data-highlighted:bg-raised"
                >
                  {expression}
                </DropdownMenu.Item>
              ))}
            </DropdownMenu.Group>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
