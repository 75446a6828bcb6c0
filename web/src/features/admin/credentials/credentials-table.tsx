import { Link } from '@tanstack/react-router'

import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { CopyButton } from '~/kit/copy'
import { Moment } from '~/kit/time'
import type { Credential } from './queries'

const head = 'px-3 py-2 text-left text-xs font-medium text-muted'
const cell = 'px-3 py-2.5 align-middle'

export function CredentialsTable({ credentials }: { credentials: Credential[] }) {
  const { t } = useTranslation('credentials')
  return (
    <div className="overflow-hidden rounded-lg border border-line">
      <table className="w-full table-fixed">
        <caption className="sr-only">{t('title')}</caption>
        <thead className="border-b border-line bg-raised">
          <tr>
            <th scope="col" className={head}>
              {t('label')}
            </th>
            <th scope="col" className={`${head} hidden w-32 sm:table-cell`}>
              {t('type')}
            </th>
            <th scope="col" className={`${head} hidden w-44 lg:table-cell`}>
              {t('provider.short')}
            </th>
            <th scope="col" className={`${head} hidden w-48 md:table-cell`}>
              {t('fields')}
            </th>
            <th scope="col" className={`${head} w-28 sm:w-36`}>
              {t('last_used')}
            </th>
            <th scope="col" className={`${head} hidden w-24 lg:table-cell`}>
              {t('revision')}
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {credentials.map((credential) => (
            <Line key={credential.id} credential={credential} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Line({ credential }: { credential: Credential }) {
  const { t } = useTranslation('credentials')
  const { id, label, type, revision, last_used_at } = credential
  const provider = providerOf(credential)
  return (
    <tr className="relative hover:bg-raised">
      <td className={cell}>
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1">
          <Link
            to="/admin/credentials/$id"
            params={{ id }}
            className="font-medium break-words after:absolute after:inset-0 hover:underline"
          >
            {label}
          </Link>
          <Reference label={label} />
          <div className="flex flex-wrap gap-1 md:hidden">
            <span className="sm:hidden">
              <Badge>{t(`types.${type}`)}</Badge>
            </span>
            <FieldNames credential={credential} />
          </div>
          {provider && (
            <span className="text-xs break-words text-muted lg:hidden">
              {t('for_provider', { provider })}
            </span>
          )}
          <span className="text-xs text-muted lg:hidden">{t('revision_is', { revision })}</span>
        </div>
      </td>
      <td className={`${cell} hidden sm:table-cell`}>{t(`types.${type}`)}</td>
      <td className={`${cell} hidden break-words lg:table-cell`}>{provider ?? '–'}</td>
      <td className={`${cell} hidden md:table-cell`}>
        <div className="flex flex-wrap gap-1">
          <FieldNames credential={credential} />
        </div>
      </td>
      <td className={cell}>
        <span className="relative z-10">
          <LastUsed at={last_used_at} />
        </span>
      </td>
      <td className={`${cell} hidden lg:table-cell`}>{revision}</td>
    </tr>
  )
}

/** How a tool refers to a credential, to be taken along. */
export function Reference({ label }: { label: string }) {
  const { t } = useTranslation('credentials')
  const reference = `secret:${label}`
  return (
    <span className="relative z-10 flex min-w-0 items-center justify-self-start font-mono text-xs break-all text-muted">
      {reference}
      <CopyButton text={reference} name={t('copy', { reference })} />
    </span>
  )
}

export function FieldNames({ credential }: { credential: Credential }) {
  return credential.fields.map((name) => (
    <Badge key={name} className="max-w-full rounded-md font-mono break-all whitespace-normal">
      {name}
    </Badge>
  ))
}

export function LastUsed({ at }: { at?: string | null }) {
  const { t } = useTranslation('credentials')
  return at ? <Moment at={at} /> : <span className="text-muted">{t('never')}</span>
}

export function providerOf({ provider_key, provider_variant }: Credential): string | undefined {
  return [provider_key, provider_variant].filter(Boolean).join(' / ') || undefined
}
