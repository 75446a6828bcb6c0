import { Link, useNavigate } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { type ReactNode, useId, useRef, useState } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { errorWords } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { FactList } from '~/kit/facts'
import { Moment } from '~/kit/time'
import { usePageName } from '~/kit/title'
import { toast } from '~/kit/toast'
import { FieldNames, LastUsed, providerOf, Reference } from './credentials-table'
import { IdentityForm } from './identity-form'
import { type Credential, current, type Marked } from './queries'
import { RemoveDialog } from './remove-dialog'
import { ReplaceForm } from './replace-form'
import { TrialForm } from './trial-form'
import { UsedBy } from './used-by'

/** All there is to know about a credential, and what an administrator can do with it. */
export function CredentialDetail({ read }: { read: Marked }) {
  const { t } = useTranslation('credentials')
  const navigate = useNavigate()
  const mayWrite = useMay('credentials.tenant.write')
  // What is read later must not take away what is typed, nor be overwritten unseen.
  const [base, setBase] = useState(read)
  const [reloads, setReloads] = useState(0)
  const [isRemoving, setRemoving] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  const { credential } = read
  usePageName(t('title.credential_of', { label: credential.label, ns: 'app' }))
  const reload = async () => {
    try {
      setBase(await current(credential.id))
      setReloads((before) => before + 1)
      heading.current?.focus()
    } catch (error) {
      toast(errorWords(error), 'bad')
    }
  }
  const forms = { base, onSaved: setBase, onReload: () => void reload() }
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-6">
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1">
        <Link
          to="/admin/credentials"
          search={{}}
          className="justify-self-start text-xs text-muted hover:underline"
        >
          {t('title')}
        </Link>
        <div className="flex flex-wrap items-start justify-between gap-3">
          <h1
            ref={heading}
            tabIndex={-1}
            className="min-w-0 text-xl font-semibold break-words outline-none"
          >
            {credential.label}
          </h1>
          {mayWrite && (
            <Button tone="danger" onClick={() => setRemoving(true)}>
              <Trash2 aria-hidden />
              {t('remove')}
            </Button>
          )}
        </div>
        <Reference label={credential.label} />
      </div>
      <div className="grid min-w-0 items-start gap-6 lg:grid-cols-2">
        <div className="grid min-w-0 gap-6">
          <Part title={t('facts')}>
            <Facts credential={credential} />
            {!mayWrite && <p className="text-xs text-muted">{t('read_only')}</p>}
          </Part>
          <Part title={t('used_by')}>
            <UsedBy id={credential.id} />
          </Part>
          {mayWrite && (
            <Part title={t('trial.title')} hint={t('trial.hint')}>
              <TrialForm credential={credential} />
            </Part>
          )}
        </div>
        {mayWrite && (
          <div className="grid min-w-0 gap-6">
            <Part title={t('identity')}>
              <IdentityForm key={reloads} {...forms} />
            </Part>
            <Part title={t('replace.title')} hint={t('replace.hint')}>
              <ReplaceForm {...forms} />
            </Part>
          </div>
        )}
      </div>
      {isRemoving && (
        <RemoveDialog
          base={base}
          onClose={() => setRemoving(false)}
          onReload={() => {
            setRemoving(false)
            void reload()
          }}
          onGone={() =>
            void navigate({
              to: '/admin/credentials',
              search: {},
              state: { isRemoved: true },
              ignoreBlocker: true,
            })
          }
        />
      )}
    </div>
  )
}

interface PartProps {
  title: string
  hint?: string
  children: ReactNode
}

function Part({ title, hint, children }: PartProps) {
  const id = useId()
  return (
    <section
      aria-labelledby={id}
      className="grid min-w-0 gap-4 rounded-lg border border-line p-4 sm:p-5"
    >
      <div className="grid gap-1">
        <h2 id={id} className="text-base font-semibold">
          {title}
        </h2>
        {hint && <p className="text-muted">{hint}</p>}
      </div>
      {children}
    </section>
  )
}

/** Where a credential may be sent. */
function Hosts({ hosts }: { hosts?: string[] | null }) {
  const { t } = useTranslation('credentials')
  if (!hosts) return t('hosts.every')
  if (hosts.length === 0) return t('hosts.none')
  return (
    <ul className="grid gap-0.5">
      {hosts.map((host) => (
        <li key={host} className="font-mono text-xs break-all">
          {host}
        </li>
      ))}
    </ul>
  )
}

function Facts({ credential }: { credential: Credential }) {
  const { t } = useTranslation('credentials')
  const facts: [string, ReactNode][] = [
    [t('type'), t(`types.${credential.type}`)],
    [
      t('fields'),
      <span key="fields" className="flex flex-wrap gap-1">
        <FieldNames credential={credential} />
      </span>,
    ],
    [t('hosts.short'), <Hosts key="hosts" hosts={credential.allowed_hosts} />],
    [t('provider.short'), providerOf(credential) ?? '–'],
    [t('revision'), credential.revision],
    [t('last_used'), <LastUsed key="used" at={credential.last_used_at} />],
    [t('created'), <Moment key="created" at={credential.created_at} />],
    [t('changed'), <Moment key="changed" at={credential.updated_at} />],
  ]
  return <FactList facts={facts} />
}
