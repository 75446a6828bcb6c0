import { ChevronRight } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useRef } from 'react'

import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'
import { Input } from '~/kit/field'
import { useKeys } from '~/kit/keys'
import { useWide } from '~/kit/wide'

/** Text and, beside it or above, the way to other pages. */
export function SideFrame({
  side,
  label,
  children,
}: {
  side: ReactNode
  label: string
  children: ReactNode
}) {
  const isWide = useWide()
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-6 md:grid-cols-[13rem_minmax(0,1fr)] lg:grid-cols-[16rem_minmax(0,1fr)] lg:gap-10">
      {isWide ? (
        <div className="sticky top-20 -ml-2 max-h-[calc(100dvh-6rem)] self-start overflow-y-auto px-2 pb-4">
          {side}
        </div>
      ) : (
        <Fold title={label} className="rounded-lg border border-line p-2">
          <div className="pt-2">{side}</div>
        </Fold>
      )}
      <div className="min-w-0">{children}</div>
    </div>
  )
}

interface FoldProps {
  title: ReactNode
  open?: boolean
  className?: string
  children: ReactNode
}

/** A part of a list that can be closed. */
export function Fold({ title, open, className, children }: FoldProps) {
  return (
    <details open={open} className={cn('group/fold min-w-0', className)}>
      <summary className="flex cursor-pointer list-none items-center gap-1.5 rounded-md px-2 py-1.5 font-medium hover:bg-raised [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-4 shrink-0 text-muted transition-transform group-open/fold:rotate-90"
        />
        {title}
      </summary>
      {children}
    </details>
  )
}

interface FindBoxProps {
  label: string
  value: string
  onChange: (typed: string) => void
  /** What Enter does, such as going to the first that was found. */
  onEnter: () => void
}

/** Finds while somebody types; `/` leads to it, Escape empties it. */
export function FindBox({ label, value, onChange, onEnter }: FindBoxProps) {
  const box = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => box.current?.focus() })
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') onEnter()
    if (event.key === 'Escape') onChange('')
  }
  return (
    <Input
      ref={box}
      type="search"
      aria-label={label}
      aria-keyshortcuts="/"
      placeholder={label}
      autoComplete="off"
      value={value}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={press}
    />
  )
}

/** How many were found, for those who do not see the list. */
export function Found({ count }: { count: number }) {
  const { t } = useTranslation('docs')
  return (
    <p role="status" className={count > 0 ? 'sr-only' : 'px-2 text-muted'}>
      {count > 0 ? t('found', { count }) : t('found_none')}
    </p>
  )
}

export const sideLink =
  'block min-w-0 truncate rounded-md px-2 py-1.5 text-muted hover:bg-raised hover:text-text [&.active]:bg-accent-soft [&.active]:font-medium [&.active]:text-accent'
