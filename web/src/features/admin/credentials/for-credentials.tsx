import type { ReactNode } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { NotYours } from '../for-authors'

interface Props {
  /** What somebody has to be allowed to do with credentials. */
  to: 'read' | 'write'
  children: ReactNode
}

/** Pages for those who may see credentials, or change them. Others came by a link, and are told so. */
export function ForCredentials({ to, children }: Props) {
  const { t } = useTranslation('credentials')
  if (useMay(`credentials.tenant.${to}`)) return children
  return (
    <NotYours heading={t('title')} title={t(`not_yours.${to}`)} hint={t(`not_yours.${to}_hint`)} />
  )
}
