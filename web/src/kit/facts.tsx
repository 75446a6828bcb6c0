import { Fragment, type ReactNode } from 'react'

/** Names and what they are, side by side. */
export function FactList({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <dt className="text-muted">{name}</dt>
          <dd className="break-words">{value}</dd>
        </Fragment>
      ))}
    </dl>
  )
}
