import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { errorWords } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { Moment } from '~/kit/time'
import { toast } from '~/kit/toast'
import { type Drift, decide } from './queries'
import { Status } from './status'

interface Props {
  server: string
  drifts: Drift[]
  mayDecide: boolean
}

/** What imported tools are on their server now, beside what was imported. */
export function DriftReview({ server, drifts, mayDecide }: Props) {
  const pending = drifts.filter(({ status }) => status === 'pending')
  const decided = drifts.filter(({ status }) => status !== 'pending')
  return (
    <ul className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
      {[...pending, ...decided].map((drift) => (
        <li key={drift.id} className="min-w-0">
          <Item server={server} drift={drift} mayDecide={mayDecide} />
        </li>
      ))}
    </ul>
  )
}

interface ItemProps {
  server: string
  drift: Drift
  mayDecide: boolean
}

function Item({ server, drift, mayDecide }: ItemProps) {
  const { t } = useTranslation('mcp-servers')
  const [isBusy, setBusy] = useState(false)
  const isPending = drift.status === 'pending'
  const act = async (isAccepted: boolean) => {
    if (isBusy) return
    setBusy(true)
    try {
      await decide(server, drift.id, isAccepted)
      toast(t(isAccepted ? 'accepted' : 'rejected', { slug: drift.slug }))
    } catch (error) {
      toast(errorWords(error), 'bad')
    } finally {
      setBusy(false)
    }
  }
  return (
    <article
      aria-label={drift.slug}
      className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border border-line p-3"
    >
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="min-w-0 font-mono text-sm font-medium break-all">{drift.slug}</h3>
        <span className="flex flex-wrap items-center gap-2 text-xs text-muted">
          {t(`kind.${drift.kind}`)}
          <Moment at={drift.seen_at} />
          <Status status={drift.status} />
        </span>
      </div>
      {isPending ? (
        <Difference drift={drift} />
      ) : (
        <details>
          <summary className="cursor-pointer text-sm text-muted">{t('show_difference')}</summary>
          <div className="mt-2">
            <Difference drift={drift} />
          </div>
        </details>
      )}
      {isPending && mayDecide && (
        <div className="flex flex-wrap items-center justify-end gap-2">
          <p className="min-w-0 flex-1 text-xs text-muted">{t(`consequence.${drift.kind}`)}</p>
          <Button aria-disabled={isBusy} onClick={() => void act(false)}>
            {t('reject')}
          </Button>
          <Button tone="primary" aria-disabled={isBusy} onClick={() => void act(true)}>
            {t('accept')}
          </Button>
        </div>
      )}
    </article>
  )
}

function Difference({ drift }: { drift: Drift }) {
  const { t } = useTranslation('mcp-servers')
  return (
    <dl className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
      {drift.diff.map(({ path, before, after }) => (
        <div key={path} className="grid min-w-0 gap-1">
          <dt className="font-mono text-xs break-all text-muted">{path || '/'}</dt>
          <dd className="grid min-w-0 gap-2 sm:grid-cols-2">
            <Side title={t('before')} value={before} look="bg-bad-soft" />
            <Side title={t('after')} value={after} look="bg-good-soft" />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Side({ title, value, look }: { title: string; value: unknown; look: string }) {
  const { t } = useTranslation('mcp-servers')
  const text = typeof value === 'string' ? visible(value) : JSON.stringify(value, null, 2)
  return (
    <div className={`grid min-w-0 content-start gap-1 rounded-md p-2 ${look}`}>
      <span className="text-xs text-muted">{title}</span>
      {value === null || value === undefined ? (
        <span className="text-xs text-muted">{t('nothing')}</span>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, also by keyboard
        <pre
          tabIndex={0}
          className="max-h-64 overflow-auto text-xs break-words whitespace-pre-wrap"
        >
          {text}
        </pre>
      )}
    </div>
  )
}

/** Characters that nobody would see, as what they are. */
function visible(text: string): string {
  return text.replace(
    /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu,
    (found) => {
      const point = found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
      return `⟨U+${point}⟩`
    },
  )
}
