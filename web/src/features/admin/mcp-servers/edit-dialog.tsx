import { type FormEvent, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Field, Textarea } from '~/kit/field'
import { toast } from '~/kit/toast'
import { SecretField, TextField } from '../credentials/fields'
import { Refusal } from '../credentials/refusal'
import { idOf, useSending } from '../credentials/use-sending'
import { change, type McpServerDetail, type Said } from './queries'

interface Props {
  server: McpServerDetail
  onClose: () => void
}

interface Header {
  name: string
  value: string
}

/** Changes where a server is, what it is sent, and what may be imported of it. */
export function EditDialog({ server, onClose }: Props) {
  const { t } = useTranslation('mcp-servers')
  const before = Object.entries(server.headers as Record<string, string>)
  const [name, setName] = useState(server.name)
  const [url, setUrl] = useState(server.url)
  const [headers, setHeaders] = useState<Header[]>(before.map(([name, value]) => ({ name, value })))
  const [allowed, setAllowed] = useState(server.allowed_tools?.join('\n') ?? '')
  const [isLimited, setLimited] = useState(
    server.allowed_tools !== null && server.allowed_tools !== undefined,
  )
  const [clientId, setClientId] = useState(server.client_id ?? '')
  const [clientSecret, setClientSecret] = useState(server.client_secret ?? '')
  const values: Record<string, string> = {
    '/name': name,
    '/url': url,
    '/client_id': clientId,
    '/client_secret': clientSecret,
    '/allowed_tools': allowed,
  }
  for (const header of headers) values[`/headers/${header.name}`] = header.value
  const sending = useSending({ valueAt: (path) => values[path], idAt: idOf })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void sending.send(async () => {
      const after: Said = {
        name,
        url: url.trim(),
        headers: Object.fromEntries(headers.map(({ name, value }) => [name.trim(), value])),
        allowed_tools: isLimited ? linesOf(allowed) : null,
        client_id: clientId.trim() || null,
        client_secret: (clientId.trim() && clientSecret) || null,
      }
      const changed = await change(server.id, differing(server, after))
      setClientSecret('')
      toast(t('changed', { name: changed.name }))
      onClose()
    })
  }
  const write = (at: number, part: Partial<Header>) =>
    setHeaders(headers.map((header, index) => (index === at ? { ...header, ...part } : header)))
  return (
    <Dialog
      open
      title={t('edit_title', { name: server.name })}
      description={t('edit_hint')}
      onClose={onClose}
    >
      <form onSubmit={submit} autoComplete="off" noValidate className="grid min-w-0 gap-4">
        <TextField
          path="/name"
          label={t('name')}
          value={name}
          sending={sending}
          onChange={setName}
          isFirst
        />
        <TextField
          path="/url"
          label={t('url')}
          type="url"
          value={url}
          sending={sending}
          onChange={setUrl}
        />
        <fieldset className="grid min-w-0 gap-3 rounded-lg border border-line p-4">
          <legend className="px-1 font-medium">{t('headers')}</legend>
          <p className="text-xs text-muted">{t('headers_hint')}</p>
          {headers.map((header, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a header has no other name while it is typed
            <div key={at} className="grid items-end gap-2 sm:grid-cols-[1fr_2fr_auto]">
              <TextField
                path={`/header-name/${at}`}
                label={t('header_name')}
                value={header.name}
                sending={sending}
                onChange={(name) => write(at, { name })}
              />
              <SecretField
                path={`/headers/${header.name}`}
                label={t('header_value')}
                value={header.value}
                sending={sending}
                onChange={(value) => write(at, { value })}
              />
              <Button onClick={() => setHeaders(headers.filter((_, index) => index !== at))}>
                {t('header_remove', { name: header.name })}
              </Button>
            </div>
          ))}
          <div>
            <Button onClick={() => setHeaders([...headers, { name: '', value: '' }])}>
              {t('header_add')}
            </Button>
          </div>
        </fieldset>
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={isLimited}
            onChange={({ target }) => setLimited(target.checked)}
          />
          {t('allowed_limit')}
        </label>
        {isLimited && (
          <Field
            id={idOf('/allowed_tools')}
            label={t('allowed')}
            hint={t('allowed_hint')}
            fault={sending.faultAt('/allowed_tools')}
          >
            <Textarea
              id={idOf('/allowed_tools')}
              spellCheck={false}
              className="font-mono"
              value={allowed}
              aria-describedby={`${idOf('/allowed_tools')}-hint`}
              onChange={({ target }) => setAllowed(target.value)}
            />
          </Field>
        )}
        <fieldset className="grid min-w-0 gap-3 rounded-lg border border-line p-4">
          <legend className="px-1 font-medium">{t('client')}</legend>
          <p className="text-xs text-muted">{t('client_hint')}</p>
          <TextField
            path="/client_id"
            label={t('client_id')}
            value={clientId}
            sending={sending}
            onChange={setClientId}
          />
          <SecretField
            path="/client_secret"
            label={t('client_secret')}
            value={clientSecret}
            sending={sending}
            onChange={setClientSecret}
          />
        </fieldset>
        <Refusal sending={sending} isPlaced={(path) => path in values} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{t('cancel', { ns: 'app' })}</Button>
          <Button type="submit" tone="primary" disabled={sending.busy}>
            {t(sending.busy ? 'saving' : 'save')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Only what differs is sent: the rest may have been changed by somebody else meanwhile. */
function differing(server: McpServerDetail, after: Said): Partial<Said> {
  const before: Record<string, unknown> = { ...server }
  const isOther = ([key, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(before[key] ?? null)
  return Object.fromEntries(Object.entries(after).filter(isOther))
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
}
