import { Link } from '@tanstack/react-router'
import { useId } from 'react'

import { useTranslation } from '~/i18n'
import { CodeBlock } from '~/kit/code-block'
import { Crumbs } from '../crumbs'
import { type Description, grouped, type Operation } from './model'
import { MethodBadge, Sentence } from './words'

/** How the API is used, and everything it does in a line each. */
export function Overview({ api, operations }: { api: Description; operations: Operation[] }) {
  const { t } = useTranslation('docs')
  const first = `curl -s '${location.origin}/api/tools' \\\n  -H "Authorization: Bearer $TOOLWRIGHT_KEY"`
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-6">
      <div>
        <Crumbs steps={[{ to: '/docs', label: t('title') }]} />
        <h1 className="text-2xl font-semibold">{t('api.title')}</h1>
        <p lang="en" className="mt-2 max-w-prose">
          <Sentence text={api.info.description ?? ''} />
        </p>
        <p className="mt-2 text-muted">
          {t('api.version', { version: api.info.version })}
          {' · '}
          <a href="/api/openapi.json" className="text-accent underline">
            OpenAPI 3.1
          </a>
          {' · '}
          <Link to="/docs/$" params={{ _splat: 'rights' }} className="text-accent underline">
            {t('api.rights')}
          </Link>
          {' · '}
          <Link to="/docs/$" params={{ _splat: 'errors' }} className="text-accent underline">
            {t('section.errors')}
          </Link>
        </p>
      </div>
      <div className="grid gap-2">
        <p className="max-w-prose text-muted">{t('api.how')}</p>
        <CodeBlock text={first} label="curl" />
      </div>
      {grouped(operations).map(([tag, inTag]) => (
        <Group key={tag} tag={tag} operations={inTag} />
      ))}
    </div>
  )
}

function Group({ tag, operations }: { tag: string; operations: Operation[] }) {
  const { t } = useTranslation('docs')
  const id = useId()
  return (
    <section aria-labelledby={id} className="min-w-0">
      <h2 id={id} className="mb-2 text-base font-semibold">
        {t(`api.tag.${tag}`, { defaultValue: tag })}
      </h2>
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line">
        {operations.map(({ id, method, path, summary }) => (
          <li key={id}>
            <Link
              to="/docs/api/$operation"
              params={{ operation: id }}
              className="grid gap-x-3 gap-y-1 px-3 py-2.5 hover:bg-raised sm:grid-cols-[3.5rem_minmax(0,1fr)]"
            >
              <MethodBadge method={method} />
              <span className="grid min-w-0 gap-0.5">
                <span className="font-mono text-xs font-medium break-all">{path}</span>
                <span lang="en" className="text-muted">
                  <Sentence text={summary} />
                </span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
