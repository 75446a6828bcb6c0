export default function ApprovalPage() {
  return <h1>Approval</h1>
}
