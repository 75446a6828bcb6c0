import { getRouteApi } from '@tanstack/react-router'

import { ComeBack } from '~/features/admin/mcp-servers/come-back'
import { ForMcpServers } from '~/features/admin/mcp-servers/for-mcp-servers'

const route = getRouteApi('/inside/mcp-servers/callback')

export default function McpCallbackPage() {
  return (
    <ForMcpServers>
      <ComeBack brought={route.useSearch()} />
    </ForMcpServers>
  )
}
