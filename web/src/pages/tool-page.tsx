export default function ToolPage() {
  return <h1>Tool</h1>
}
