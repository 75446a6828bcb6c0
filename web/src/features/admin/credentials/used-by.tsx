import { useQuery } from '@tanstack/react-query'

import { useTranslation } from '~/i18n'
import { Fault, Skeleton } from '~/kit/states'
import { credentialUsersOf } from './queries'
import { ServerLink, ToolLink } from './refusal'

/** The tools and MCP servers that would not work without a credential. */
export function UsedBy({ id }: { id: string }) {
  const { t } = useTranslation('credentials')
  const { data, error } = useQuery(credentialUsersOf(id))
  if (error) return <Fault error={error} />
  if (!data) return <Skeleton className="h-6" />
  if (data.length === 0) return <p className="text-muted">{t('used_by_nobody')}</p>
  return (
    <ul className="grid gap-1">
      {data.map(({ kind, slug, name }) => (
        <li key={slug} className="flex flex-wrap items-baseline gap-x-2">
          {kind === 'mcp_server' ? (
            <ServerLink name={slug} />
          ) : (
            <>
              <ToolLink slug={slug} name={name} />
              {name && name !== slug && (
                <span className="font-mono text-xs break-all text-muted">{slug}</span>
              )}
            </>
          )}
        </li>
      ))}
    </ul>
  )
}
