import { Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'

interface Props {
  /** What stands in the bar at the top. */
  bar: ReactNode
  barClass: string
  /** What lies over the page. */
  children?: ReactNode
}

/** The bar at the top, a way past it, and the page below. */
export function Frame({ bar, barClass, children }: Props) {
  const { t } = useTranslation()
  return (
    <div className="grid min-h-dvh grid-cols-[minmax(0,1fr)] grid-rows-[auto_1fr]">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-ground focus:p-3"
      >
        {t('skip')}
      </a>
      <header
        className={cn(
          'sticky top-0 z-30 flex h-14 items-center gap-1 border-b border-line bg-ground sm:gap-4 sm:px-5',
          barClass,
        )}
      >
        {bar}
      </header>
      <main
        id="content"
        tabIndex={-1}
        className="mx-auto w-full max-w-7xl min-w-0 px-4 py-6 outline-none sm:px-6"
      >
        <Outlet />
      </main>
      {children}
    </div>
  )
}
