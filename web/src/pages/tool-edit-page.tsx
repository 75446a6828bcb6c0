export default function ToolEditPage() {
  return <h1>ToolEdit</h1>
}
