import { type ReactNode, useState } from 'react'

import { Raw } from '~/features/result/raw'
import { useLocale, useTranslation } from '~/i18n'
import { Badge, type Tone } from '~/kit/badge'
import { LongText } from '~/kit/long-text'
import { ActorName } from '~/kit/people'
import type { RunEvent } from './queries'

const tones: Record<string, Tone> = {
  'tool.completed': 'good',
  'tool.failed': 'bad',
  'tool.needs_approval': 'warn',
  'tool.approved': 'good',
  'tool.started': 'accent',
}

/** The log keeps a denied call as a cancelled one, with a code of its own. */
function isDenial({ type, payload }: RunEvent): boolean {
  return type === 'tool.cancelled' && payload.error_code === 'DENIED'
}

function nameOf(event: RunEvent): string {
  return isDenial(event) ? 'denied' : event.type.replace(/^tool\./, '')
}

/** What the log knows of a run, in the order in which it happened. */
export function EventList({ events }: { events: RunEvent[] }) {
  const { t } = useTranslation('runs')
  const locale = useLocale()
  const clock = new Intl.DateTimeFormat(locale, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  })
  return (
    <ol aria-live="polite" aria-relevant="additions" className="grid gap-1">
      {events.map((event) => (
        <li key={event.id} className="min-w-0 rounded-md border border-line">
          <Folded
            summary={
              <>
                <time dateTime={event.at} className="text-xs tabular-nums text-muted">
                  {clock.format(new Date(event.at))}
                </time>
                <Badge tone={isDenial(event) ? 'bad' : (tones[event.type] ?? 'plain')}>
                  {t(`event.${nameOf(event)}`, { defaultValue: event.type })}
                </Badge>
                <span className="min-w-0 text-xs">
                  <ActorName actor={event.actor} />
                </span>
              </>
            }
          >
            <Raw value={event.payload} name={t('payload', { type: event.type })} />
          </Folded>
        </li>
      ))}
    </ol>
  )
}

/** What is inside is drawn when somebody wants to see it: an event may hold an input of megabytes. */
function Folded({ summary, children }: { summary: ReactNode; children: ReactNode }) {
  const [open, setOpen] = useState(false)
  return (
    <details className="min-w-0" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="flex cursor-pointer flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
        {summary}
      </summary>
      {open && <div className="min-w-0 px-3 pb-3">{children}</div>}
    </details>
  )
}

/** The output of a tool as it came, piece by piece. */
export function StreamedOutput({ events }: { events: RunEvent[] }) {
  const { t } = useTranslation('runs')
  const text = events
    .filter((event) => event.type === 'tool.output_appended')
    .map((event) => String(event.payload.text ?? ''))
    .join('')
  if (text === '') return null
  return (
    <section aria-labelledby="appended" className="grid min-w-0 gap-3">
      <h2 id="appended" className="text-base font-semibold">
        {t('appended')}
      </h2>
      <pre
        tabIndex={0}
        aria-labelledby="appended"
        className="max-h-96 overflow-auto rounded-md border border-line bg-raised p-3 font-mono text-xs whitespace-pre-wrap"
      >
        <LongText text={text} />
      </pre>
    </section>
  )
}
