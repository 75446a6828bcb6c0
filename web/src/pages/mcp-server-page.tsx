import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'

import { ForMcpServers } from '~/features/admin/mcp-servers/for-mcp-servers'
import { mcpServerOf } from '~/features/admin/mcp-servers/queries'
import { ServerDetail } from '~/features/admin/mcp-servers/server-detail'
import { useTranslation } from '~/i18n'
import { Fault, Loading } from '~/kit/states'

const route = getRouteApi('/inside/admin/mcp-servers/$id')

export default function McpServerPage() {
  return (
    <ForMcpServers>
      <Shown />
    </ForMcpServers>
  )
}

function Shown() {
  const { t } = useTranslation('mcp-servers')
  const { id } = route.useParams()
  const { data, error, refetch } = useQuery(mcpServerOf(id))
  if (data) return <ServerDetail key={id} server={data} />
  if (!error) return <Loading />
  return (
    <div className="grid gap-4">
      <h1 className="text-xl font-semibold">{t('title')}</h1>
      <Fault error={error} onRetry={() => void refetch()} />
    </div>
  )
}
