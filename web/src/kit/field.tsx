import type { ComponentProps, ReactNode } from 'react'

import { cn } from './cn'

const box =
  'w-full rounded-md border border-line-strong bg-ground px-3 text-sm text-text placeholder:text-muted aria-invalid:border-bad disabled:bg-raised disabled:text-muted'

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input className={cn(box, 'h-9', className)} {...rest} />
}

export function Textarea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea className={cn(box, 'min-h-20 py-2', className)} {...rest} />
}

/** The browser's own list: it works on phones, by keyboard and for screen readers without our help. */
export function Select({ className, ...rest }: ComponentProps<'select'>) {
  return <select className={cn(box, 'h-9', className)} {...rest} />
}

interface FieldProps {
  id: string
  label: ReactNode
  hint?: ReactNode
  fault?: string
  children: ReactNode
}

/** A label, its control, and what is wrong with it. The control refers to the fault by `<id>-fault`. */
export function Field({ id, label, hint, fault, children }: FieldProps) {
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children}
      {hint && (
        <p id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </p>
      )}
      {fault && (
        <p id={`${id}-fault`} className="text-xs text-bad">
          {fault}
        </p>
      )}
    </div>
  )
}
