import { CircleCheck, CircleHelp, CircleX, Plug } from 'lucide-react'
import { type FormEvent, useState } from 'react'

import { queryClient } from '~/api/client'
import { useTranslation } from '~/i18n'
import { Badge, type Tone } from '~/kit/badge'
import { Button } from '~/kit/button'
import { TextField } from './fields'
import { type Credential, credentialOf } from './queries'
import { Refusal } from './refusal'
import { type Trial, tryOut, type Verdict, verdictOf } from './trial'
import { idOf, useSending } from './use-sending'

/** Tries a credential where it should open something. */
export function TrialForm({ credential: { id, type } }: { credential: Credential }) {
  const { t } = useTranslation('credentials')
  const [url, setUrl] = useState('')
  const [header, setHeader] = useState('')
  const [trial, setTrial] = useState<Trial>()
  const sending = useSending({
    valueAt: (path) => (path === '/url' ? url : undefined),
    idAt: idOf,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTrial(undefined)
    void sending.send(async () => {
      setTrial(await tryOut(id, url.trim(), header.trim() || undefined))
      void queryClient.invalidateQueries({ queryKey: credentialOf(id).queryKey })
    })
  }
  const usual = type === 'bearer' || type === 'basic' ? 'Authorization' : 'X-Api-Key'
  return (
    <form onSubmit={submit} autoComplete="off" noValidate className="grid min-w-0 gap-4">
      <TextField
        path="/url"
        label={t('trial.url')}
        hint={t('trial.url_hint')}
        type="url"
        value={url}
        placeholder="https://api.example.com/v1/me"
        sending={sending}
        onChange={setUrl}
      />
      <TextField
        path="/header"
        label={t('trial.header')}
        hint={t('trial.header_hint', { header: usual })}
        value={header}
        placeholder={usual}
        sending={sending}
        onChange={setHeader}
      />
      <Refusal sending={sending} isPlaced={(path) => path === '/url' || path === '/header'} />
      <div aria-live="polite">{trial && <Told trial={trial} />}</div>
      <div className="flex justify-end">
        <Button type="submit" disabled={sending.busy}>
          <Plug aria-hidden />
          {t(sending.busy ? 'trial.busy' : 'trial.act')}
        </Button>
      </div>
    </form>
  )
}

const LOOKS = {
  taken: { tone: 'good', Icon: CircleCheck, colour: 'border-good bg-good-soft text-good' },
  refused: { tone: 'bad', Icon: CircleX, colour: 'border-bad bg-bad-soft text-bad' },
  elsewhere: { tone: 'warn', Icon: CircleHelp, colour: 'border-warn bg-warn-soft text-warn' },
  unclear: { tone: 'warn', Icon: CircleHelp, colour: 'border-warn bg-warn-soft text-warn' },
  unanswered: { tone: 'bad', Icon: CircleX, colour: 'border-bad bg-bad-soft text-bad' },
} as const satisfies Record<Verdict, { tone: Tone; Icon: unknown; colour: string }>

function Told({ trial }: { trial: Trial }) {
  const { t } = useTranslation('credentials')
  const verdict = verdictOf(trial)
  const { tone, Icon, colour } = LOOKS[verdict]
  return (
    <div className={`flex items-start gap-2 rounded-lg border p-3 ${colour}`}>
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="grid min-w-0 gap-1">
        <p className="font-medium">{t(`trial.${verdict}`)}</p>
        {verdict === 'unanswered' && <p className="break-words">{trial.message}</p>}
        {trial.status != null && (
          <p>
            <Badge tone={tone}>HTTP {trial.status}</Badge>
          </p>
        )}
      </div>
    </div>
  )
}
