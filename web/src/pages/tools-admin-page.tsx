import { ForAuthors } from '~/features/admin/for-authors'
import { ToolsList } from '~/features/admin/list/tools-list'

export default function ToolsAdminPage() {
  return (
    <ForAuthors>
      <ToolsList />
    </ForAuthors>
  )
}
