import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'

import { useTranslation } from '~/i18n'

/** Where a page stands, and the way up. */
export function Crumbs({ steps }: { steps: { to: string; label: string }[] }) {
  const { t } = useTranslation('docs')
  return (
    <nav aria-label={t('crumbs')} className="mb-4 flex flex-wrap items-center gap-1.5 text-muted">
      {steps.map(({ to, label }, place) => (
        <Fragment key={to}>
          {place > 0 && <span aria-hidden>/</span>}
          <Link to={to} className="rounded underline-offset-4 hover:text-text hover:underline">
            {label}
          </Link>
        </Fragment>
      ))}
    </nav>
  )
}
