export default function ToolsAdminPage() {
  return <h1>ToolsAdmin</h1>
}
