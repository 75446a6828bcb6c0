import type { ReactNode } from 'react'

/** What the form library formats descriptions with: here it leaves them as they are. */
export function Markdown({ children }: { children?: ReactNode }): ReactNode {
  return children
}
