import type { ReactNode } from 'react'
import { useTranslation } from '~/i18n'

import { useMay } from '~/api/me'
import { NotYours } from '../for-authors'

/** Pages for those who may see webhooks. Others came by a link, and are told so. */
export function ForWebhooks({ children }: { children: ReactNode }) {
  const { t } = useTranslation('webhooks')
  if (useMay('webhooks.tenant.read')) return children
  return <NotYours heading={t('title')} title={t('not_yours')} hint={t('not_yours_hint')} />
}
