import { cva, type VariantProps } from 'class-variance-authority'
import type { ComponentProps } from 'react'

import { cn } from './cn'

const look = cva(
  'inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap [&_svg]:size-3',
  {
    variants: {
      tone: {
        plain: 'bg-sunken text-text',
        accent: 'bg-accent-soft text-accent',
        good: 'bg-good-soft text-good',
        warn: 'bg-warn-soft text-warn',
        bad: 'bg-bad-soft text-bad',
      },
    },
    defaultVariants: { tone: 'plain' },
  },
)

export type Tone = NonNullable<VariantProps<typeof look>['tone']>

export function Badge({ tone, className, ...rest }: ComponentProps<'span'> & { tone?: Tone }) {
  return <span className={cn(look({ tone }), className)} {...rest} />
}
