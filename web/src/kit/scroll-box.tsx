import { type ReactNode, type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react'

import { cn } from './cn'

interface Props {
  label: string
  /** `group` where the same label can stand more than once on a page. */
  role?: 'region' | 'group'
  ref?: Ref<HTMLElement>
  className?: string
  children: ReactNode
}

const NONE = { left: false, right: false, below: false }

/** What may be wider than its place. It scrolls by itself, by keyboard too, and its edges show where there is more. */
export function ScrollBox({ label, role = 'region', ref, className, children }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [more, setMore] = useState(NONE)
  useImperativeHandle(ref, () => box.current as HTMLElement, [])
  useEffect(() => {
    const element = box.current
    if (!element) return
    const look = () => {
      const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } =
        element
      const next = {
        left: scrollLeft > 1,
        right: scrollLeft + clientWidth < scrollWidth - 1,
        below: scrollTop + clientHeight < scrollHeight - 1,
      }
      setMore((now) => (JSON.stringify(now) === JSON.stringify(next) ? now : next))
    }
    const observer = new ResizeObserver(look)
    observer.observe(element)
    if (element.firstElementChild) observer.observe(element.firstElementChild)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [])
  return (
    <div className="relative min-w-0">
      <div
        ref={box}
        role={role}
        aria-label={label}
        tabIndex={0}
        className={cn('min-w-0 overflow-auto rounded-md border border-line', className)}
      >
        {children}
      </div>
      {more.left && <Edge className="inset-y-0 left-0 w-5 rounded-l-md bg-linear-to-r" />}
      {more.right && <Edge className="inset-y-0 right-0 w-5 rounded-r-md bg-linear-to-l" />}
      {more.below && <Edge className="inset-x-0 bottom-0 h-4 rounded-b-md bg-linear-to-t" />}
    </div>
  )
}

function Edge({ className }: { className: string }) {
  return (
    <div
      aria-hidden
      data-edge
      className={cn('pointer-events-none absolute from-line-strong/60 to-transparent', className)}
    />
  )
}
