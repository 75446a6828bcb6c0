import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Pencil, RefreshCw, Trash2 } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { errorWords } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { FactList } from '~/kit/facts'
import { Fault } from '~/kit/states'
import { Moment } from '~/kit/time'
import { usePageName } from '~/kit/title'
import { toast } from '~/kit/toast'
import { Refusal } from '../credentials/refusal'
import { idOf, useSending } from '../credentials/use-sending'
import { DriftReview } from './drift-review'
import { EditDialog } from './edit-dialog'
import { driftsOf, type McpServerDetail, refresh, remove } from './queries'
import { RemoteTools } from './remote-tools'
import { SignIn } from './sign-in'
import { Status } from './status'

/** A server: how it answered, what it offers, and what changed there. */
export function ServerDetail({ server }: { server: McpServerDetail }) {
  const { t } = useTranslation('mcp-servers')
  const navigate = useNavigate()
  const mayWrite = useMay('mcp_servers.tenant.write')
  const drifts = useQuery(driftsOf(server.id))
  const [isAsking, setAsking] = useState(false)
  const [isRemoving, setRemoving] = useState(false)
  const [isEditing, setEditing] = useState(false)
  usePageName(t('title.mcp_server_of', { name: server.name, ns: 'app' }))
  const ask = async () => {
    if (isAsking) return
    setAsking(true)
    try {
      const { status } = await refresh(server.id)
      toast(t(`refreshed.${status}`), status === 'ready' ? undefined : 'bad')
    } catch (error) {
      toast(errorWords(error), 'bad')
    } finally {
      setAsking(false)
    }
  }
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-6">
      <div className="grid min-w-0 gap-1">
        <Link
          to="/admin/mcp-servers"
          className="justify-self-start text-xs text-muted hover:underline"
        >
          {t('title')}
        </Link>
        <div className="flex flex-wrap items-start justify-between gap-3">
          <h1 className="min-w-0 text-xl font-semibold break-words">{server.name}</h1>
          {mayWrite && (
            <div className="flex flex-wrap gap-2">
              <Button aria-disabled={isAsking} onClick={() => void ask()}>
                <RefreshCw aria-hidden />
                {t(isAsking ? 'refreshing' : 'refresh')}
              </Button>
              <Button onClick={() => setEditing(true)}>
                <Pencil aria-hidden />
                {t('edit')}
              </Button>
              <Button tone="danger" onClick={() => setRemoving(true)}>
                <Trash2 aria-hidden />
                {t('remove')}
              </Button>
            </div>
          )}
        </div>
      </div>
      <Part title={t('facts')}>
        <Facts server={server} />
      </Part>
      {(server.sign_in || server.status === 'unauthorized') && (
        <Part title={t('sign_in.title')} hint={t('sign_in.hint')}>
          <SignIn server={server} mayWrite={mayWrite} />
        </Part>
      )}
      {drifts.data && drifts.data.length > 0 && (
        <Part title={t('changes')} hint={t('changes_hint')}>
          <DriftReview server={server.id} drifts={drifts.data} mayDecide={mayWrite} />
        </Part>
      )}
      {drifts.error && <Fault error={drifts.error} onRetry={() => void drifts.refetch()} />}
      <Part title={t('tools')} hint={t('tools_hint')}>
        <RemoteTools server={server} mayImport={mayWrite} />
      </Part>
      {isEditing && <EditDialog server={server} onClose={() => setEditing(false)} />}
      {isRemoving && (
        <RemoveDialog
          server={server}
          onClose={() => setRemoving(false)}
          onGone={() => void navigate({ to: '/admin/mcp-servers' })}
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
      className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4 rounded-lg border border-line p-4 sm:p-5"
    >
      <div className="grid gap-1">
        <h2 id={id} className="text-base font-semibold">
          {title}
        </h2>
        {hint && <p className="max-w-prose text-muted">{hint}</p>}
      </div>
      {children}
    </section>
  )
}

function Facts({ server }: { server: McpServerDetail }) {
  const { t } = useTranslation('mcp-servers')
  const about = [server.server?.title ?? server.server?.name, server.server?.version]
  const facts: [string, ReactNode][] = [
    [
      t('url'),
      <span key="url" className="font-mono text-xs break-all">
        {server.url}
      </span>,
    ],
    [t('state'), <Status key="state" status={server.status} />],
  ]
  if (server.last_error) {
    facts.push([
      t('error'),
      <span key="error" className="break-words">
        {server.last_error}
      </span>,
    ])
  }
  facts.push([t('about'), about.filter(Boolean).join(' ') || '–'])
  facts.push([t('protocol'), server.protocol_version ?? '–'])
  facts.push([t('headers'), Object.keys(server.headers).join(', ') || '–'])
  facts.push([
    t('listed'),
    server.last_listed_at ? <Moment key="listed" at={server.last_listed_at} /> : t('never'),
  ])
  return <FactList facts={facts} />
}

interface RemoveProps {
  server: McpServerDetail
  onClose: () => void
  onGone: () => void
}

function RemoveDialog({ server, onClose, onGone }: RemoveProps) {
  const { t } = useTranslation('mcp-servers')
  const sending = useSending({ valueAt: () => undefined, idAt: idOf })
  const go = () =>
    void sending.send(async () => {
      await remove(server.id)
      toast(t('removed', { name: server.name }))
      onClose()
      onGone()
    })
  return (
    <Dialog
      open
      title={t('remove_title', { name: server.name })}
      description={t('remove_hint')}
      onClose={onClose}
    >
      <div className="grid gap-4">
        <Refusal sending={sending} act="remove" />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('cancel', { ns: 'app' })}</Button>
          <Button tone="danger" disabled={sending.busy} onClick={go}>
            {t('remove')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
