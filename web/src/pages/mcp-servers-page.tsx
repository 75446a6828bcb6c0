import { ForMcpServers } from '~/features/admin/mcp-servers/for-mcp-servers'
import { ServersList } from '~/features/admin/mcp-servers/servers-list'

export default function McpServersPage() {
  return (
    <ForMcpServers>
      <ServersList />
    </ForMcpServers>
  )
}
