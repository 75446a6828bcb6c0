import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'

import { CredentialDetail } from '~/features/admin/credentials/detail'
import { ForCredentials } from '~/features/admin/credentials/for-credentials'
import { credentialOf } from '~/features/admin/credentials/queries'
import { useTranslation } from '~/i18n'
import { Fault, Loading } from '~/kit/states'

const route = getRouteApi('/inside/admin/credentials/$id')

export default function CredentialPage() {
  return (
    <ForCredentials to="read">
      <Shown />
    </ForCredentials>
  )
}

function Shown() {
  const { t } = useTranslation('credentials')
  const { id } = route.useParams()
  const { data, error, refetch } = useQuery(credentialOf(id))
  if (data) return <CredentialDetail key={id} read={data} />
  if (!error) return <Loading />
  return (
    <div className="grid gap-4">
      <h1 className="text-xl font-semibold">{t('title')}</h1>
      <Fault error={error} onRetry={() => void refetch()} />
    </div>
  )
}
