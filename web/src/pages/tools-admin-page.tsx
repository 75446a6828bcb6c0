import { ToolsList } from '~/features/admin/list/tools-list'

export default function ToolsAdminPage() {
  return <ToolsList />
}
