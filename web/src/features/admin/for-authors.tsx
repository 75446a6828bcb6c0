import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

import { useMay } from '~/api/me'
import { Button } from '~/kit/button'
import { Empty } from '~/kit/states'

/** Pages for those who may change tools. Others came by a link, and are told so. */
export function ForAuthors({ children }: { children: ReactNode }) {
  const { t } = useTranslation('admin')
  if (useMay('tools.tenant.update')) return children
  return (
    <>
      <h1 className="sr-only">{t('list.title')}</h1>
      <Empty title={t('not_yours')}>
        <div className="grid justify-items-center gap-3">
          <p>{t('not_yours_hint')}</p>
          <Button asChild>
            <Link to="/tools" search={{}}>
              {t('to_library', { ns: 'app' })}
            </Link>
          </Button>
        </div>
      </Empty>
    </>
  )
}
