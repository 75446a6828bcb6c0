import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { Button } from '~/kit/button'
import { Empty, Fault, Loading } from '~/kit/states'
import { AddDialog } from './add-dialog'
import { type McpServer, mcpServers } from './queries'
import { Status } from './status'

const head = 'px-3 py-2 text-left text-xs font-medium text-muted'
const cell = 'px-3 py-2.5 align-middle'

export function ServersList() {
  const { t } = useTranslation('mcp-servers')
  const mayWrite = useMay('mcp_servers.tenant.write')
  const { data, error, refetch } = useQuery(mcpServers)
  const [isAdding, setAdding] = useState(false)
  const adds = mayWrite && (
    <Button tone="primary" onClick={() => setAdding(true)}>
      <Plus aria-hidden />
      {t('add')}
    </Button>
  )
  return (
    <div className="grid gap-5">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="grid gap-1">
          <h1 className="text-xl font-semibold">{t('title')}</h1>
          <p className="max-w-prose text-muted">{t('subtitle')}</p>
        </div>
        {(data?.length ?? 0) > 0 && adds}
      </div>
      {data ? (
        data.length > 0 ? (
          <Table servers={data} />
        ) : (
          <Empty title={t('none')}>
            <div className="grid justify-items-center gap-3">
              <p>{t('none_hint')}</p>
              {adds}
            </div>
          </Empty>
        )
      ) : error ? (
        <Fault error={error} onRetry={() => void refetch()} />
      ) : (
        <Loading />
      )}
      {isAdding && <AddDialog onClose={() => setAdding(false)} />}
    </div>
  )
}

function Table({ servers }: { servers: McpServer[] }) {
  const { t } = useTranslation('mcp-servers')
  return (
    <div className="overflow-hidden rounded-lg border border-line">
      <table className="w-full table-fixed">
        <caption className="sr-only">{t('title')}</caption>
        <thead className="border-b border-line bg-raised">
          <tr>
            <th scope="col" className={head}>
              {t('name')}
            </th>
            <th scope="col" className={`${head} hidden md:table-cell`}>
              {t('url')}
            </th>
            <th scope="col" className={`${head} w-36`}>
              {t('state')}
            </th>
            <th scope="col" className={`${head} hidden w-20 sm:table-cell`}>
              {t('tools')}
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {servers.map((server) => (
            <tr key={server.id} className="relative hover:bg-raised">
              <td className={cell}>
                <div className="grid min-w-0 gap-1">
                  <Link
                    to="/admin/mcp-servers/$id"
                    params={{ id: server.id }}
                    className="font-medium break-words after:absolute after:inset-0 hover:underline"
                  >
                    {server.name}
                  </Link>
                  <span className="font-mono text-xs break-all text-muted md:hidden">
                    {server.url}
                  </span>
                </div>
              </td>
              <td className={`${cell} hidden font-mono text-xs break-all md:table-cell`}>
                {server.url}
              </td>
              <td className={cell}>
                <span className="flex flex-wrap gap-1">
                  <Status status={server.status} />
                  {server.pending_drifts > 0 && (
                    <Badge tone="warn">{t('drifts', { count: server.pending_drifts })}</Badge>
                  )}
                </span>
              </td>
              <td className={`${cell} hidden sm:table-cell`}>{server.tool_count}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
