export default function ToolNewPage() {
  return <h1>ToolNew</h1>
}
