import { useBlocker } from '@tanstack/react-router'

import { Leave } from '../editor/leave'

/** Asks before what was typed is lost; it is kept nowhere. */
export function LeaveGuard({ isDirty }: { isDirty: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return <Leave onLeave={blocker.proceed} onStay={blocker.reset} />
}
