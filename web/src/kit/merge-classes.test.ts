import { twMerge } from 'tailwind-merge'

import { mergeClasses } from './merge-classes'

const BUTTON =
  'inline-flex items-center justify-center gap-2 rounded-md font-medium whitespace-nowrap transition-colors border border-line bg-ground hover:bg-raised h-9 px-3.5 text-sm'
const INPUT =
  'w-full rounded-md border border-line-strong bg-ground px-3 text-sm text-text placeholder:text-muted h-9'

const LATER = [
  'px-2',
  'p-1',
  'px-1.5 gap-1',
  'size-9',
  'h-auto min-h-8 break-all whitespace-normal',
  'hidden lg:inline-flex',
  'max-sm:hidden',
  'w-auto',
  'pl-9',
  'text-muted',
  'text-xs text-bad',
  'text-[0.6875rem] leading-tight',
  'font-mono text-xs',
  'rounded-full shadow-lg',
  'rounded-t-lg',
  'border-b-2 border-transparent',
  'border-0 bg-transparent',
  'border-r-transparent border-current',
  'hover:bg-bad-soft',
  'justify-self-start justify-items-start justify-start',
  'line-clamp-3 wrap-anywhere',
  'absolute inset-y-0 right-0',
  'flex-1 sm:flex-none',
  '[&.active]:bg-accent-soft [&_svg]:size-4',
  'md:grid-cols-[repeat(5,minmax(0,1fr))_auto]',
  'transition-transform translate-x-4',
  'underline no-underline',
  '-m-1.5 z-10',
]

test.each(LATER)('%s counts against what stands before it, and nothing else does', (later) => {
  for (const before of [BUTTON, INPUT, LATER.join(' ')]) {
    expect(mergeClasses(`${before} ${later}`)).toBe(twMerge(`${before} ${later}`))
  }
})
