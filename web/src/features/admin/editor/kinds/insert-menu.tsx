import { Braces } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { type RefObject, useRef } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { exampleWords } from './known-fields'
import type { Source } from './steps'
import { inserted } from './values'

interface Props {
  /** What the box is called that it writes into. */
  name: string
  sources: Source[]
  box: RefObject<HTMLInputElement | HTMLTextAreaElement | null>
  onChange: (text: string) => void
  /** Whether what is written there is an expression by itself, without braces. */
  isBare?: boolean
}

/** Puts an expression where the cursor is in a box, and gives the box the focus again. */
export function InsertMenu({ name, sources, box, onChange, isBare }: Props) {
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
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <Button size="icon" className="shrink-0" aria-label={t('insert', { name })}>
          <Braces aria-hidden />
        </Button>
      </DropdownMenu.Trigger>
      {/* Inside the main part of the page, where everything that can be read belongs. */}
      <DropdownMenu.Portal container={document.getElementById('content')}>
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
              {expressions.map(({ text, example }) => {
                const words = exampleWords(example)
                return (
                  <DropdownMenu.Item
                    key={text}
                    // Whoever types a letter looks for a field, and each begins with braces.
                    textValue={fieldOf(text)}
                    onSelect={() => insert(isBare ? bareOf(text) : text)}
                    className="flex min-w-0 flex-wrap items-baseline justify-between gap-x-3 rounded px-2 py-1.5 text-xs outline-none data-highlighted:bg-raised"
                  >
                    <code className="min-w-0 break-all">{isBare ? bareOf(text) : text}</code>
                    {words !== undefined && (
                      <span className="min-w-0 truncate text-muted">
                        {t('insert_example', { example: words })}
                      </span>
                    )}
                  </DropdownMenu.Item>
                )
              })}
            </DropdownMenu.Group>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

/** An expression without its braces. */
function bareOf(text: string): string {
  return text.replace(/^\{\{ | \}\}$/g, '')
}

/** The last name of an expression. */
function fieldOf(text: string): string {
  return /(\w+)\W*$/.exec(text)?.[1] ?? text
}
