import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { errorWords } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Field, Textarea } from '~/kit/field'
import { toast } from '~/kit/toast'
import { plainHost } from '../../../credentials/hosts'
import { create, credentials } from '../../../credentials/queries'
import { useEditing } from '../../context'
import { withoutBelow } from '../../inside'
import { referenceTo } from '../pairs'
import { InputRows } from './input-rows'
import { parseCurl } from './parse'
import { labelsFor, type Made, madeOf, type Proposal, proposalOf, withFields } from './proposal'
import { type SecretChoice, SecretRows } from './secret-rows'
import { CurlFault } from './shell'

const HTTP_PARTS = ['method', 'url', 'query', 'headers', 'body']

/** Makes the settings of an HTTP tool of a command that somebody has at hand. */
export default function CurlDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('curl')
  const [proposal, setProposal] = useState<Proposal>()
  return (
    <Dialog open onClose={onClose} title={t('title')} as="drawer">
      {proposal ? (
        <Review proposal={proposal} onClose={onClose} onAgain={() => setProposal(undefined)} />
      ) : (
        <Paste onRead={setProposal} />
      )}
    </Dialog>
  )
}

/** The command itself. It goes from the page once it is read: there may be secrets in it. */
function Paste({ onRead }: { onRead: (proposal: Proposal) => void }) {
  const { t } = useTranslation('curl')
  const id = useId()
  const [text, setText] = useState('')
  const [fault, setFault] = useState<CurlFault>()
  const read = (event: FormEvent) => {
    event.preventDefault()
    try {
      onRead(proposalOf(parseCurl(text)))
    } catch (error) {
      if (!(error instanceof CurlFault)) throw error
      setFault(error)
    }
  }
  const told = fault && t(`fault.${fault.code}`, fault.params)
  return (
    <form onSubmit={read} className="grid min-w-0 gap-4">
      <Field id={id} label={t('command')} hint={t('command_hint')} fault={told}>
        <Textarea
          data-first
          id={id}
          rows={10}
          className="font-mono text-xs"
          autoComplete="off"
          spellCheck={false}
          placeholder="curl 'https://api.example.com/v1/cities?q=Vienna' -H 'X-Api-Key: …'"
          value={text}
          aria-invalid={fault !== undefined}
          aria-describedby={`${id}-hint ${id}-fault`}
          onChange={({ target }) => {
            setText(target.value)
            setFault(undefined)
          }}
        />
      </Field>
      <div role="status" className="sr-only">
        {told}
      </div>
      <Button type="submit" tone="primary" className="justify-self-end">
        {t('read')}
      </Button>
    </form>
  )
}

interface ReviewProps {
  proposal: Proposal
  onClose: () => void
  onAgain: () => void
}

/** What was read: which values become inputs, and where secrets go. */
function Review({ proposal, onClose, onAgain }: ReviewProps) {
  const { t } = useTranslation('curl')
  const { request, leaves, secrets } = proposal
  const { data: known = [] } = useQuery({
    ...credentials,
    enabled: useMay('credentials.tenant.read'),
  })
  const mayWrite = useMay('credentials.tenant.write')
  const fill = useFilled()
  const [inputs, setInputs] = useState(
    () => new Map(leaves.filter(({ isOpen }) => isOpen).map(({ id, name }) => [id, name])),
  )
  const [own, setOwn] = useState<Record<string, SecretChoice>>({})
  const [refused, setRefused] = useState<string>()
  const [busy, setBusy] = useState(false)
  const labels = labelsFor(
    request.origin,
    secrets.length,
    known.map(({ label }) => label),
  )
  const choiceOf = (id: string): SecretChoice => {
    const index = secrets.findIndex((one) => one.id === id)
    const isNew = mayWrite && secrets[index]?.payload !== undefined
    return own[id] ?? (isNew ? { as: 'new', label: labels[index] ?? '' } : { as: 'none' })
  }
  const apply = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setRefused(undefined)
    try {
      const references = new Map<string, string | undefined>()
      for (const { id, type, scheme, payload } of secrets) {
        const choice = choiceOf(id)
        if (choice.as === 'known') {
          const found = known.find(({ label }) => label === choice.label)
          references.set(id, found && referenceTo(found))
        }
        if (choice.as !== 'new' || !payload) continue
        const host = plainHost(request.origin)
        const allowed_hosts = host ? [host] : undefined
        await create({ label: choice.label, type, payload, allowed_hosts })
        references.set(id, `${scheme}secret:${choice.label}`)
        // Should the next one fail, this one is not made twice.
        setOwn((now) => ({ ...now, [id]: { as: 'known', label: choice.label } }))
      }
      fill(madeOf(proposal, { inputs, references }))
      toast(t('filled'))
      onClose()
    } catch (error) {
      setRefused(errorWords(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form onSubmit={(event) => void apply(event)} className="grid min-w-0 gap-5">
      <p className="min-w-0 rounded-md bg-raised p-3 font-mono text-xs break-all">
        <b>{request.method}</b> {request.origin}
        {request.path
          .map((segment) => `/${segment}`)
          .join('')
          .replaceAll(/[\uE000\uE001]/g, '')}
      </p>
      <InputRows leaves={leaves} inputs={inputs} onChange={setInputs} />
      {secrets.length > 0 && (
        <SecretRows
          secrets={secrets}
          known={known}
          mayWrite={mayWrite}
          choiceOf={choiceOf}
          onChange={(id, choice) => setOwn({ ...own, [id]: choice })}
        />
      )}
      {request.leftOut.length > 0 && (
        <p className="text-xs break-words text-muted">
          {t('left_out', { names: request.leftOut.join(', ') })}
        </p>
      )}
      {request.notes.map((note) => (
        <p key={note} className="text-xs text-muted">
          {t(`note.${note}`)}
        </p>
      ))}
      {refused && (
        <p role="alert" className="text-bad">
          {refused}
        </p>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onAgain}>{t('again')}</Button>
        <Button data-first type="submit" tone="primary" disabled={busy}>
          {t('fill')}
        </Button>
      </div>
      <p className="text-xs text-muted">{t('replaces')}</p>
    </form>
  )
}

/** Puts a request into the definition. What it does not speak of, such as retries, stays. */
function useFilled() {
  const { definition, change, setUnread } = useEditing()
  return ({ implementation, fields }: Made) => {
    const kept = Object.entries(definition.implementation).filter(
      ([name]) => !HTTP_PARTS.includes(name),
    )
    setUnread((now) => withoutBelow(now, '/implementation'))
    change('implementation', { ...Object.fromEntries(kept), ...implementation })
    change('input_schema', withFields(definition.input_schema, fields))
  }
}
