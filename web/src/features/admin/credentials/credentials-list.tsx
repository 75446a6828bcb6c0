import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useLocation } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useEffect, useRef } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { SearchBox } from '~/kit/search-box'
import { Empty, Fault, Skeleton } from '~/kit/states'
import { CredentialsTable } from './credentials-table'
import { type Credential, credentials } from './queries'

const route = getRouteApi('/inside/admin/credentials')

/** From how many on a person would rather search than look. */
const LONG = 8

export function CredentialsList() {
  const { t } = useTranslation('credentials')
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useMay('credentials.tenant.write')
  const { data, error, refetch } = useQuery(credentials)
  const heading = useHeadingAfterRemoval()
  const hasSearch = q !== undefined || (data?.length ?? 0) > LONG
  return (
    <div className="grid gap-5">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="grid gap-1">
          <h1 ref={heading} tabIndex={-1} className="text-xl font-semibold outline-none">
            {t('title')}
          </h1>
          <p className="max-w-prose text-muted">{t('subtitle')}</p>
        </div>
        {mayWrite && (data?.length ?? 0) > 0 && <NewCredential />}
      </div>
      {hasSearch && (
        <search className="flex flex-wrap gap-2">
          <SearchBox
            label={t('search')}
            q={q}
            onSearch={(q) => void navigate({ search: { q }, replace: true })}
          />
        </search>
      )}
      {data ? (
        <Found all={data} q={q} mayWrite={mayWrite} />
      ) : error ? (
        <Fault error={error} onRetry={() => void refetch()} />
      ) : (
        <Waiting />
      )}
    </div>
  )
}

/** Leads whoever has just removed a credential to the top of the list: the page they were on is gone. */
function useHeadingAfterRemoval() {
  const heading = useRef<HTMLHeadingElement>(null)
  const isRemoved = useLocation({ select: ({ state }) => state.isRemoved === true })
  useEffect(() => {
    if (isRemoved) heading.current?.focus()
  }, [isRemoved])
  return heading
}

function NewCredential() {
  const { t } = useTranslation('credentials')
  return (
    <Button asChild tone="primary">
      <Link to="/admin/credentials/new">
        <Plus aria-hidden />
        {t('new')}
      </Link>
    </Button>
  )
}

interface FoundProps {
  all: Credential[]
  q: string | undefined
  mayWrite: boolean
}

function Found({ all, q, mayWrite }: FoundProps) {
  const { t } = useTranslation('credentials')
  if (all.length === 0) {
    return (
      <Empty title={t('none')}>
        <div className="grid justify-items-center gap-3">
          <p>{t('none_hint')}</p>
          <p>
            {t('none_refer')} <code className="break-all">{'"X-Api-Key": "secret:weather"'}</code>
          </p>
          {mayWrite ? <NewCredential /> : <p>{t('none_ask')}</p>}
        </div>
      </Empty>
    )
  }
  const found = q ? all.filter((one) => fits(one, q, t(`types.${one.type}`))) : all
  if (found.length === 0) {
    return (
      <Empty title={t('none_found')}>
        <Button asChild>
          <Link to="/admin/credentials" search={{}}>
            {t('clear')}
          </Link>
        </Button>
      </Empty>
    )
  }
  return (
    <div className="grid gap-3">
      <p className="text-xs text-muted" aria-live="polite">
        {t('count', { count: found.length })}
      </p>
      <CredentialsTable credentials={found} />
    </div>
  )
}

function fits(credential: Credential, q: string, type: string): boolean {
  const { label, provider_key, provider_variant, fields } = credential
  const texts = [label, type, provider_key, provider_variant, ...fields]
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => texts.some((text) => text?.toLowerCase().includes(word)))
}

function Waiting() {
  const { t } = useTranslation()
  return (
    <div role="status" aria-label={t('loading')} className="grid gap-2">
      {['a', 'b', 'c'].map((row) => (
        <Skeleton key={row} className="h-14" />
      ))}
    </div>
  )
}
