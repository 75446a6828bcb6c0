import { cva, type VariantProps } from 'class-variance-authority'
import { Children, cloneElement, type ComponentProps, isValidElement, type MouseEvent } from 'react'

import { cn } from './cn'

const look = cva(
  'inline-flex items-center justify-center gap-2 rounded-md font-medium whitespace-nowrap transition-colors disabled:opacity-60 aria-disabled:cursor-default aria-disabled:opacity-60 [&_svg]:size-4 [&_svg]:shrink-0',
  {
    variants: {
      tone: {
        primary: 'bg-accent text-accent-text hover:opacity-90',
        plain: 'border border-line bg-ground hover:bg-raised',
        quiet: 'text-muted hover:bg-raised hover:text-text',
        danger: 'border border-bad bg-ground text-bad hover:bg-bad-soft',
      },
      size: { small: 'h-8 px-2.5 text-xs', normal: 'h-9 px-3.5 text-sm', icon: 'size-9' },
    },
    defaultVariants: { tone: 'plain', size: 'normal' },
  },
)

type Props = ComponentProps<'button'> & VariantProps<typeof look> & { asChild?: boolean }

/**
 * A button; with `asChild` its one child gets the looks, for links that are to be seen as buttons.
 *
 * One that is `disabled` keeps the focus, which a browser would let fall: whoever pressed it goes on from there when
 * it is done. It does nothing meanwhile, nor does Enter in its form, which presses it too.
 */
export function Button(props: Props) {
  const { tone, size, asChild, className, type = 'button', disabled = false, ...rest } = props
  const classes = cn(look({ tone, size }), className)
  const child = asChild && Children.only(rest.children)
  if (isValidElement<{ className: string }>(child))
    return cloneElement(child, { className: classes })
  return (
    <button
      type={type}
      className={classes}
      {...rest}
      aria-disabled={disabled || undefined}
      onClick={disabled ? ignore : rest.onClick}
    />
  )
}

function ignore(event: MouseEvent) {
  event.preventDefault()
  event.stopPropagation()
}
