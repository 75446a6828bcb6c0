import type { ComponentProps } from 'react'

import { cn } from './cn'

interface Props extends Omit<ComponentProps<'button'>, 'onChange'> {
  checked: boolean
  onChange: (checked: boolean) => void
}

/** Something that is on or off, and changes at once. The knob's place says which, not only its colour. */
export function Switch({ checked, onChange, className, ...rest }: Props) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={checked}
      onClick={() => onChange(!checked)}
      className={cn(
        'inline-flex h-6 w-10 shrink-0 items-center rounded-full border p-0.5 transition-colors disabled:opacity-60',
        checked ? 'border-accent bg-accent' : 'border-line-strong bg-sunken',
        className,
      )}
      {...rest}
    >
      <span
        aria-hidden
        className={cn('size-4.5 rounded-full transition-transform', {
          'translate-x-4 bg-accent-text': checked,
          'bg-line-strong': !checked,
        })}
      />
    </button>
  )
}
