import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'

import { me } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { CodeBlock } from '~/kit/code-block'
import { Crumbs } from '../crumbs'
import { pageText } from '../queries'
import { exampleOf } from './example'
import type { Answer, Description, Operation, Parameter } from './model'
import { rightsOf } from './rights'
import { Kind, limitsOf, SchemaView } from './schema-view'
import { TryIt } from './try-it'
import { MethodBadge, Sentence } from './words'

/** One operation: what it takes and answers on one side, a request to send on the other. */
export function OperationView({ api, operation }: { api: Description; operation: Operation }) {
  const { t } = useTranslation('docs')
  const { method, path, summary, description, parameters, body, tag } = operation
  const steps = [
    { to: '/docs', label: t('title') },
    { to: '/docs/api', label: t('api.title') },
  ]
  return (
    <div className="min-w-0">
      <Crumbs steps={steps} />
      <p className="text-xs text-muted">{t(`api.tag.${tag}`, { defaultValue: tag })}</p>
      <h1 className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1">
        <MethodBadge method={method} className="w-auto px-2 text-xs" />
        <span className="min-w-0 font-mono text-lg font-semibold break-all">{path}</span>
      </h1>
      <div lang="en" className="mt-2 grid max-w-prose gap-2">
        <p className="text-base">
          <Sentence text={summary} />
        </p>
        {description.split('\n\n').map((paragraph) => (
          <p key={paragraph}>
            <Sentence text={paragraph} />
          </p>
        ))}
      </div>
      <div className="mt-6 grid min-w-0 grid-cols-[minmax(0,1fr)] gap-8 xl:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
        <div className="grid min-w-0 content-start gap-6">
          <Who operation={operation} />
          {parameters.length > 0 && (
            <Part title={t('api.parameters')}>
              <ul className="divide-y divide-line rounded-lg border border-line">
                {parameters.map((parameter) => (
                  <ParameterRow key={`${parameter.in} ${parameter.name}`} {...parameter} />
                ))}
              </ul>
            </Part>
          )}
          {body?.schema && (
            <Part title={t('api.body')}>
              <SchemaView schema={body.schema} />
            </Part>
          )}
          <Answers api={api} answers={operation.answers} />
        </div>
        <div className="min-w-0">
          <div className="xl:sticky xl:top-20">
            <TryIt key={operation.id} api={api} operation={operation} />
          </div>
        </div>
      </div>
    </div>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section aria-labelledby={id} className="min-w-0">
      <h2 id={id} className="mb-2 text-base font-semibold">
        {title}
      </h2>
      {children}
    </section>
  )
}

function ParameterRow({ name, in: place, required, description, schema = {} }: Parameter) {
  const { t } = useTranslation('docs')
  const limits = limitsOf(schema)
  return (
    <li className="grid min-w-0 gap-1 px-3 py-2">
      <p className="flex min-w-0 flex-wrap items-baseline gap-x-2">
        <code className="font-mono text-xs font-semibold break-all">{name}</code>
        <Kind schema={schema} />
        <span className="text-xs text-muted">{t(`api.in.${place}`)}</span>
        {required && <span className="text-xs font-medium text-bad">{t('api.required')}</span>}
      </p>
      {description && (
        <p lang="en" className="text-muted">
          <Sentence text={description} />
        </p>
      )}
      {limits && <p className="font-mono text-xs break-all text-muted">{limits}</p>}
    </li>
  )
}

/** Who may, by the table that the server's own tests write. */
function Who({ operation }: { operation: Operation }) {
  const { t } = useTranslation('docs')
  const { data: page } = useQuery(pageText('/docs/rights.md'))
  const { data: person } = useQuery({ ...me, enabled: false })
  const rights = page ? rightsOf(page, operation.method, operation.path) : []
  if (operation.isOpen || rights.length === 0) {
    return operation.isOpen ? <p className="text-muted">{t('api.open')}</p> : null
  }
  const named = (who: string) => (person?.roles.includes(who) ? `${who} (${t('api.you')})` : who)
  const refused = rights.filter(([, what]) => what.startsWith('no'))
  return (
    <Part title={t('api.who')}>
      <ul className="flex flex-wrap gap-1.5">
        {rights
          .filter((right) => !refused.includes(right))
          .map(([who, what]) => (
            <li key={who}>
              <Badge tone={what === 'yes' ? 'good' : 'warn'}>
                {named(who)}
                {what !== 'yes' && `: ${what}`}
              </Badge>
            </li>
          ))}
      </ul>
      {refused.length > 0 && (
        <p className="mt-2 text-xs text-muted">
          {t('api.who_not', { names: refused.map(([who]) => named(who)).join(', ') })}
        </p>
      )}
      <p className="mt-2 text-xs">
        <Link to="/docs/$" params={{ _splat: 'rights' }} className="text-accent underline">
          {t('api.rights')}
        </Link>
      </p>
    </Part>
  )
}

function Answers({ api, answers }: { api: Description; answers: Answer[] }) {
  const { t } = useTranslation('docs')
  const [chosen, setChosen] = useState(answers[0]?.status)
  const answer = answers.find(({ status }) => status === chosen)
  return (
    <Part title={t('api.answers')}>
      <div role="group" aria-label={t('api.answers')} className="mb-3 flex flex-wrap gap-1.5">
        {answers.map(({ status }) => (
          <button
            key={status}
            type="button"
            aria-pressed={status === chosen}
            onClick={() => setChosen(status)}
            className="rounded-md border border-line px-2.5 py-1 font-mono text-xs aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent"
          >
            {status === 'default' ? t('api.other') : status}
          </button>
        ))}
      </div>
      {answer && (
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
          <p lang="en" className="text-muted">
            <Sentence text={answer.description} />
            {answer.type && <span className="font-mono text-xs"> {answer.type}</span>}
          </p>
          {answer.schema && <SchemaView schema={answer.schema} />}
          {answer.schema && (
            <details>
              <summary className="w-fit cursor-pointer rounded text-accent">
                {t('api.example')}
              </summary>
              <CodeBlock
                className="mt-2 max-h-96"
                language="json"
                label={t('api.example')}
                text={JSON.stringify(exampleOf(api, answer.schema, 'all'), null, 2)}
              />
            </details>
          )}
        </div>
      )}
    </Part>
  )
}
