import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'

import { parse, stringify } from '~/api/exact'
import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { CodeBlock } from '~/kit/code-block'
import type { Came } from './send'

/** What came back: status, time, headers, body. */
export function AnswerView({ came }: { came: Came }) {
  const { t } = useTranslation('docs')
  const { status, took_ms, headers, text, isCut } = came
  const json = useMemo(() => prettyJson(text), [text])
  const code = codeOf(text)
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={status < 300 ? 'good' : status < 500 ? 'warn' : 'bad'}>{status}</Badge>
        <span className="text-muted">{t('api.took', { ms: took_ms })}</span>
        {code && (
          <Link
            to="/docs/$"
            params={{ _splat: `errors/${code}` }}
            className="text-accent underline"
          >
            {t('api.about_code', { code })}
          </Link>
        )}
      </p>
      {text ? (
        <CodeBlock
          className="max-h-128"
          label={t('api.answer_body')}
          language={json ? 'json' : undefined}
          text={json ?? text}
        />
      ) : (
        <p className="text-muted">{t('api.no_body')}</p>
      )}
      {isCut && <p className="text-xs text-muted">{t('api.cut')}</p>}
      <details>
        <summary className="w-fit cursor-pointer rounded text-accent">
          {t('api.headers', { count: headers.length })}
        </summary>
        <dl className="mt-2 grid gap-1 font-mono text-xs">
          {headers.map(([name, value]) => (
            <div key={name} className="min-w-0 break-all">
              <dt className="inline text-muted">{name}: </dt>
              <dd className="inline">{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  )
}

/** JSON in lines, with every digit; none for what is no JSON, or not yet. */
function prettyJson(text: string): string | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined
  try {
    return stringify(parse(text), 2)
  } catch {
    return undefined
  }
}

/** The code of a problem. */
function codeOf(text: string): string | undefined {
  return /"type":"\/docs\/errors\/([A-Z_]+)"/.exec(text)?.[1]
}
