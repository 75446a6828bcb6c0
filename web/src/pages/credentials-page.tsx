import { CredentialsList } from '~/features/admin/credentials/credentials-list'
import { ForCredentials } from '~/features/admin/credentials/for-credentials'

export default function CredentialsPage() {
  return (
    <ForCredentials to="read">
      <CredentialsList />
    </ForCredentials>
  )
}
