import { useQuery } from '@tanstack/react-query'

import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { Fault, Skeleton } from '~/kit/states'
import { usersOf } from '../queries'

/** What would not work without a tool. */
export function UsedBy({ slug }: { slug: string }) {
  const { t } = useTranslation('admin')
  const { data, error } = useQuery(usersOf(slug))
  if (error) return <Fault error={error} />
  if (!data) return <Skeleton className="h-6" />
  if (data.length === 0) return <p className="text-muted">{t('drawer.used_by_nobody')}</p>
  return (
    <ul className="grid gap-1">
      {data.map(({ kind, slug, name }) => (
        <li key={`${kind}/${slug}`} className="flex flex-wrap items-center gap-2">
          <Badge>{kind}</Badge>
          <span className="min-w-0 break-words">{name || slug}</span>
        </li>
      ))}
    </ul>
  )
}
