import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import { useMay } from '~/api/me'
import { people } from '../queries'
import type { Author } from '../types'

/** Names for those who changed a tool, as far as the person may know them. */
export function useAuthors() {
  const { t } = useTranslation('admin')
  const { data } = useQuery({ ...people, enabled: useMay('members.tenant.read') })
  return (author: Author): string => {
    const person = data?.items.find(({ id }) => id === author.id)
    return author.agent ?? person?.display_name ?? t('versions.somebody')
  }
}
