import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Empty } from '~/kit/states'

/** Pages for those who may change tools. Others came by a link, and are told so. */
export function ForAuthors({ children }: { children: ReactNode }) {
  const { t } = useTranslation('admin')
  if (useMay('tools.tenant.update')) return children
  return <NotYours heading={t('list.title')} title={t('not_yours')} hint={t('not_yours_hint')} />
}

interface Props {
  heading: string
  title: string
  hint: string
}

/** What stands in the place of a page that is not for everybody. */
export function NotYours({ heading, title, hint }: Props) {
  const { t } = useTranslation()
  return (
    <>
      <h1 className="sr-only">{heading}</h1>
      <Empty title={title}>
        <div className="grid justify-items-center gap-3">
          <p>{hint}</p>
          <Button asChild>
            <Link to="/tools" search={{}}>
              {t('to_library')}
            </Link>
          </Button>
        </div>
      </Empty>
    </>
  )
}
