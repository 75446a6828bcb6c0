import { cn } from '~/kit/cn'

interface Props {
  id: string
  label: string
  required?: boolean
  /** Whether only screen readers hear it; `wide` where there is room for the head of a table. */
  hidden?: boolean | 'wide'
}

export function Label({ id, label, required, hidden }: Props) {
  return (
    <span
      className={cn(
        'min-w-0 break-words',
        hidden && (hidden === 'wide' ? 'sm:sr-only' : 'sr-only'),
      )}
    >
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {required && <Star />}
    </span>
  )
}

/** That a field must be filled. Screen readers hear it from the control itself, so it is no part of a name. */
export function Star() {
  return (
    <span aria-hidden className="text-bad">
      {' *'}
    </span>
  )
}
