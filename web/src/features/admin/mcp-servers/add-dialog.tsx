import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { toast } from '~/kit/toast'
import { SecretField, TextField } from '../credentials/fields'
import { Refusal } from '../credentials/refusal'
import { idOf, useSending } from '../credentials/use-sending'
import { add } from './queries'

const HEADER = '/headers/Authorization'

/** Registers a server, which is asked for its tools at once. */
export function AddDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('mcp-servers')
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [authorization, setAuthorization] = useState('')
  const values: Record<string, string> = { '/name': name, '/url': url, [HEADER]: authorization }
  const sending = useSending({ valueAt: (path) => values[path], idAt: idOf })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void sending.send(async () => {
      const headers = authorization ? { Authorization: authorization } : undefined
      const made = await add({ name, url: url.trim(), headers })
      setAuthorization('')
      toast(t('added', { name: made.name }))
      onClose()
      await navigate({ to: '/admin/mcp-servers/$id', params: { id: made.id } })
    })
  }
  return (
    <Dialog open title={t('add')} description={t('add_hint')} onClose={onClose}>
      <form onSubmit={submit} autoComplete="off" noValidate className="grid min-w-0 gap-4">
        <TextField
          path="/name"
          label={t('name')}
          hint={t('name_hint', { name: name || 'weather' })}
          value={name}
          placeholder="weather"
          sending={sending}
          onChange={setName}
          isFirst
        />
        <TextField
          path="/url"
          label={t('url')}
          type="url"
          value={url}
          placeholder="https://mcp.example.com/mcp"
          sending={sending}
          onChange={setUrl}
        />
        <SecretField
          path={HEADER}
          label={t('authorization')}
          hint={t('authorization_hint')}
          value={authorization}
          sending={sending}
          onChange={setAuthorization}
        />
        <Refusal sending={sending} isPlaced={(path) => path in values} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{t('cancel', { ns: 'app' })}</Button>
          <Button type="submit" tone="primary" disabled={sending.busy}>
            {t(sending.busy ? 'adding' : 'add_do')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
