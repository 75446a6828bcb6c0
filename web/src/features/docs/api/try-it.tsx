import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { RotateCcw, Send, Square } from 'lucide-react'
import { type FormEvent, useId, useMemo, useRef, useState } from 'react'

import { me } from '~/api/me'
import type { Problem } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { CodeBlock } from '~/kit/code-block'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { AnswerView } from './answer-view'
import { type Extent, exampleOf } from './example'
import type { Description, Operation } from './model'
import { ParameterFields } from './parameter-fields'
import { curlOf, keyOf, missingIn, requestOf } from './request'
import { type Sent, useSend } from './send'

const JsonEditor = lazyPart(
  () => import('~/features/form/json/json-editor'),
  (module) => module.default,
)
const ConfirmSend = lazyPart(
  () => import('./confirm-send'),
  (module) => module.default,
)

/** These replace or remove something, so they are asked for twice. */
const ASKS_FIRST = new Set(['put', 'patch', 'delete'])

/** A request that can be filled in, sent and copied. */
export function TryIt({ api, operation }: { api: Description; operation: Operation }) {
  const { t } = useTranslation('docs')
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const [values, setValues] = useState<Record<string, string>>({})
  const [body, setBody] = useState(() => bodyOf(api, operation, 'needed'))
  const [missing, setMissing] = useState<string[]>([])
  const [isAsking, setAsking] = useState(false)
  const { sent, send, stop } = useSend()
  const { data: person } = useQuery({ ...me, enabled: false })
  const filled = { values, body }
  const curl = curlOf(operation, filled, location.origin)
  const mayTry = operation.isOpen || person !== undefined
  const faults = useMemo(() => faultsOf(sent), [sent])

  const submit = (event: FormEvent) => {
    event.preventDefault()
    const found = missingIn(operation, filled)
    setMissing(found)
    const first = found[0]
    if (first) return form.current?.querySelector<HTMLElement>(`[data-key="${first}"]`)?.focus()
    if (ASKS_FIRST.has(operation.method)) setAsking(true)
    else void send(requestOf(operation, filled))
  }
  const isBusy = sent.state === 'waiting' || (sent.state === 'came' && !sent.came.isOver)
  return (
    <section
      aria-labelledby={`${id}-try`}
      className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4 rounded-lg border border-line p-4"
    >
      <h2 id={`${id}-try`} className="text-base font-semibold">
        {t('api.try')}
      </h2>
      <form ref={form} onSubmit={submit} noValidate className="grid min-w-0 gap-4">
        <ParameterFields
          parameters={operation.parameters.filter((parameter) => parameter.in !== 'cookie')}
          values={values}
          missing={missing}
          onChange={(parameter, value) => {
            const key = keyOf(parameter)
            setValues((old) => ({ ...old, [key]: value }))
            setMissing((old) => old.filter((other) => other !== key))
          }}
        />
        {operation.body && (
          <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1.5">
            <div className="flex flex-wrap items-center justify-between gap-2">
              <p className="font-medium">{t('api.body')}</p>
              <div className="flex gap-1">
                <Button
                  size="small"
                  tone="quiet"
                  onClick={() => setBody(bodyOf(api, operation, 'all'))}
                >
                  {t('api.all_fields')}
                </Button>
                <Button
                  size="small"
                  tone="quiet"
                  aria-label={t('api.reset')}
                  onClick={() => setBody(bodyOf(api, operation, 'needed'))}
                >
                  <RotateCcw aria-hidden />
                </Button>
              </div>
            </div>
            <JsonEditor
              fallback={<Skeleton className="h-48" />}
              label={t('api.body')}
              text={body}
              onChange={setBody}
              faults={faults}
            />
          </div>
        )}
        {mayTry ? (
          <div className="flex flex-wrap items-center gap-2">
            <Button type="submit" tone={operation.method === 'delete' ? 'danger' : 'primary'}>
              <Send aria-hidden />
              {t('api.send')}
            </Button>
            {isBusy && (
              <Button onClick={stop}>
                <Square aria-hidden />
                {t('api.stop')}
              </Button>
            )}
            {person && !operation.isOpen && (
              <p className="text-xs text-muted">
                {t('api.as', { tenant: person.tenant.name || person.tenant.slug })}
              </p>
            )}
          </div>
        ) : (
          <SignInFirst />
        )}
      </form>
      <div aria-live="polite" className="grid min-w-0 grid-cols-[minmax(0,1fr)] empty:hidden">
        {sent.state === 'waiting' && <p className="text-muted">{t('api.waiting')}</p>}
        {sent.state === 'failed' && (
          <p className="text-bad">{t('api.failed', { why: sent.why })}</p>
        )}
        {sent.state === 'came' && <AnswerView came={sent.came} />}
      </div>
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1.5">
        <p className="font-medium">curl</p>
        <CodeBlock text={curl} label="curl" className="max-h-80" />
      </div>
      {isAsking && (
        <ConfirmSend
          request={requestOf(operation, filled)}
          onClose={() => setAsking(false)}
          onSend={() => {
            setAsking(false)
            void send(requestOf(operation, filled))
          }}
        />
      )}
    </section>
  )
}

function SignInFirst() {
  const { t } = useTranslation('docs')
  const { href } = useLocation()
  return (
    <p className="rounded-md bg-raised p-3">
      <Link to="/sign-in" search={{ next: href }} className="font-medium text-accent underline">
        {t('api.sign_in')}
      </Link>{' '}
      {t('api.sign_in_hint')}
    </p>
  )
}

function bodyOf(api: Description, { body }: Operation, extent: Extent): string {
  if (!body) return ''
  const example =
    extent === 'needed' && body.example !== undefined
      ? body.example
      : exampleOf(api, body.schema ?? {}, extent)
  return JSON.stringify(example, null, 2)
}

/** What the server says is wrong with the body, to be marked where it stands. */
function faultsOf(sent: Sent): Problem['errors'] {
  if (sent.state !== 'came' || sent.came.status !== 422) return []
  try {
    return JSON.parse(sent.came.text).errors ?? []
  } catch {
    return []
  }
}
