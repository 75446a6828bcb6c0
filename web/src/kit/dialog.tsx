import { X } from 'lucide-react'
import { Dialog as Primitive } from 'radix-ui'
import { type ReactNode, useRef } from 'react'

import { useTranslation } from '~/i18n'
import { cn } from './cn'

interface Props {
  open: boolean
  onClose: () => void
  title: string
  description?: string
  /** `drawer` stands at the right edge, for reading; `dialog` in the middle, for deciding; `wide` has more to show. */
  as?: keyof typeof place
  /** What has `data-first` gets the focus, else whatever comes first. */
  children: ReactNode
}

const place = {
  dialog:
    'top-1/2 left-1/2 max-h-[90dvh] w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 rounded-lg',
  wide: 'top-1/2 left-1/2 max-h-[94dvh] w-[min(48rem,calc(100vw-1rem))] -translate-x-1/2 -translate-y-1/2 rounded-lg',
  drawer: 'inset-y-0 right-0 h-dvh w-[min(34rem,100vw)] border-l',
}

export function Dialog({ open, onClose, title, description, as = 'dialog', children }: Props) {
  const { t } = useTranslation()
  const before = useRef<Element>(null)
  return (
    <Primitive.Root open={open} onOpenChange={(open) => !open && onClose()}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Primitive.Content
          className={cn(
            'fixed z-50 overflow-y-auto border-line bg-ground p-5 shadow-xl',
            place[as],
          )}
          // Our dialogs have no trigger of their own, so who had the focus has to be remembered.
          onOpenAutoFocus={(event) => {
            before.current = document.activeElement
            const first = (event.currentTarget as HTMLElement).querySelector('[data-first]')
            if (!(first instanceof HTMLElement)) return
            event.preventDefault()
            first.focus()
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            // Unless somebody has taken it already.
            if (document.activeElement !== document.body) return
            if (before.current instanceof HTMLElement) before.current.focus()
          }}
          {...(description ? {} : { 'aria-describedby': undefined })}
        >
          <div className="mb-4 flex items-start justify-between gap-4">
            <Primitive.Title className="min-w-0 text-lg font-semibold break-words">
              {title}
            </Primitive.Title>
            <Primitive.Close
              aria-label={t('close')}
              className="rounded-md p-1 text-muted hover:bg-raised"
            >
              <X aria-hidden className="size-4" />
            </Primitive.Close>
          </div>
          {description && (
            <Primitive.Description className="mb-4 text-muted">{description}</Primitive.Description>
          )}
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
