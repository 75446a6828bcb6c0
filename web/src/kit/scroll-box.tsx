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
      {more.left && <Edge at="left" />}
      {more.right && <Edge at="right" />}
      {more.below && <Edge at="below" />}
    </div>
  )
}

const EDGES = {
  left: 'inset-y-px left-px w-3 rounded-l-md bg-linear-to-r',
  right: 'inset-y-px right-px w-3 rounded-r-md bg-linear-to-l',
  below: 'inset-x-px bottom-px h-3 rounded-b-md bg-linear-to-t',
}

/** A soft shadow, as if what is there went on below the edge. What stands under it can still be read. */
function Edge({ at }: { at: keyof typeof EDGES }) {
  return (
    <div
      aria-hidden
      data-edge={at}
      className={cn(
        'pointer-events-none absolute from-black/12 to-transparent dark:from-black/60',
        EDGES[at],
      )}
    />
  )
}
