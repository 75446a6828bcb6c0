import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'

import { ApiSide } from '~/features/docs/api/api-side'
import { description, operationsOf } from '~/features/docs/api/model'
import { OperationView } from '~/features/docs/api/operation-view'
import { Overview } from '~/features/docs/api/overview'
import { ApiProvider } from '~/features/docs/api/schema-view'
import { SideFrame } from '~/features/docs/side'
import { useTranslation } from '~/i18n'
import { Empty, Fault, Loading } from '~/kit/states'
import { usePageName } from '~/kit/title'

export default function ApiPage() {
  const { t } = useTranslation('docs')
  const { operation: wanted } = useParams({ strict: false })
  const { data: api, error, refetch } = useQuery(description)
  const operations = useMemo(() => (api ? operationsOf(api) : []), [api])
  const operation = operations.find(({ id }) => id === wanted)
  usePageName(operation && `${operation.method.toUpperCase()} ${operation.path}`)
  if (error) return <Fault error={error} onRetry={() => void refetch()} />
  if (!api) return <Loading />
  return (
    <ApiProvider value={api}>
      <SideFrame
        label={t('api.operations')}
        side={<ApiSide operations={operations} current={operation} />}
      >
        {operation ? (
          <OperationView api={api} operation={operation} />
        ) : wanted ? (
          <Empty title={t('missing')}>
            <Link to="/docs/api" className="text-accent underline">
              {t('api.title')}
            </Link>
          </Empty>
        ) : (
          <Overview api={api} operations={operations} />
        )}
      </SideFrame>
    </ApiProvider>
  )
}
