import { Check, Minus } from 'lucide-react'
import { type ReactNode, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { LongText } from '~/kit/long-text'
import { useAround } from './context'
import { DataTable } from './data-table'
import { Hints } from './hints'
import { isObject, isRows, type Json, type JsonObject } from './json'
import { table } from './rows'
import { label, number, safeLink } from './words'

const NO_HINTS = new Hints(undefined)
const DEEPEST_OPEN = 3
const ENTRIES_OPEN = 30
const TEXT_OPEN = 2_000
/** A longer text scrolls in a box of its own. */
const TEXT_AT_ONCE = 20_000
const FIELDS_AT_ONCE = 100

interface Props {
  value: Json | undefined
  hints?: Hints
  depth?: number
}

/** Any value, as readable as its shape allows. */
export function Value({ value, hints = NO_HINTS, depth = 0 }: Props) {
  const { t } = useTranslation('result')
  if (typeof value !== 'object' || value === null) return <Plain value={value} hints={hints} />
  const size = Array.isArray(value) ? value.length : Object.keys(value).length
  if (size === 0) return <span className="text-muted">{t('nothing')}</span>
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object') && size <= 12) {
    return <Words values={value} hints={hints} />
  }
  const inner = <Structure value={value} hints={hints} depth={depth} />
  if (depth < DEEPEST_OPEN || (depth === 0 && size <= ENTRIES_OPEN)) return inner
  return (
    <Folded title={t(Array.isArray(value) ? 'entries' : 'fields', { count: size })}>{inner}</Folded>
  )
}

/** Text, number, truth or nothing. */
export function Plain({ value, hints = NO_HINTS }: { value: Json | undefined; hints?: Hints }) {
  const { t } = useTranslation('result')
  const { currency } = useAround()
  const { unit } = hints.hint
  if (value === null || value === undefined) {
    return (
      <span className="text-muted" aria-label={t('no_value')}>
        –
      </span>
    )
  }
  if (typeof value === 'number') {
    return <span className="tabular-nums">{number(value, unit, currency)}</span>
  }
  if (typeof value === 'boolean') {
    const Icon = value ? Check : Minus
    return (
      <span className="inline-flex items-center gap-1">
        <Icon aria-hidden className="size-3.5 shrink-0" />
        {t(value ? 'yes' : 'no')}
      </span>
    )
  }
  return hints.word(String(value)) ?? <Text text={String(value)} />
}

function Text({ text }: { text: string }) {
  const { t } = useTranslation('result')
  const [whole, setWhole] = useState(false)
  const link = safeLink(text)
  if (link) {
    return (
      <a
        href={link}
        target="_blank"
        rel="noopener noreferrer nofollow"
        className="break-all text-accent underline"
      >
        {text}
      </a>
    )
  }
  const long = text.length > TEXT_OPEN && !whole
  if (whole && text.length > TEXT_AT_ONCE) {
    return (
      <span
        role="group"
        aria-label={t('whole_text')}
        tabIndex={0}
        className="block max-h-96 overflow-auto rounded-md border border-line p-2 wrap-anywhere whitespace-pre-wrap"
      >
        <LongText text={text} />
      </span>
    )
  }
  return (
    <span className="break-words whitespace-pre-wrap">
      {long ? `${text.slice(0, TEXT_OPEN)}…` : text}
      {long && (
        <Button size="small" tone="quiet" onClick={() => setWhole(true)}>
          {t('show_all')}
        </Button>
      )}
    </span>
  )
}

function Words({ values, hints }: { values: Json[]; hints: Hints }) {
  return (
    <ul className="flex flex-wrap gap-1.5">
      {values.map((value, index) => (
        <li key={index} className="min-w-0 rounded bg-sunken px-1.5 py-0.5">
          <Plain value={value} hints={hints.below('*')} />
        </li>
      ))}
    </ul>
  )
}

function Structure({
  value,
  hints,
  depth,
}: {
  value: Json[] | JsonObject
  hints: Hints
  depth: number
}) {
  const found = isObject(value) ? undefined : table(value)
  if (found && isRows(value)) return <DataTable table={found} hints={hints.below('*')} />
  if (found) return <DataTable table={found} hints={new Hints(undefined)} />
  return <Fields value={value as JsonObject} hints={hints} depth={depth} />
}

function Fields({ value, hints, depth }: { value: JsonObject; hints: Hints; depth: number }) {
  const { t } = useTranslation('result')
  const [most, setMost] = useState(FIELDS_AT_ONCE)
  const entries = Object.entries(value)
  const shown = entries.slice(0, most)
  return (
    <>
      <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-[minmax(8rem,max-content)_minmax(0,1fr)]">
        {shown.map(([key, inner]) => {
          const below = hints.below(key)
          return (
            <div key={key} className="contents">
              <dt
                className="min-w-0 break-words text-muted sm:max-w-56"
                title={below.hint.description}
              >
                {label(key, below.hint)}
              </dt>
              <dd className="min-w-0">
                <Value value={inner} hints={below} depth={depth + 1} />
              </dd>
            </div>
          )
        })}
      </dl>
      {entries.length > shown.length && (
        <Button size="small" className="mt-2" onClick={() => setMost(most + FIELDS_AT_ONCE)}>
          {t('show_more', {
            count: Math.min(FIELDS_AT_ONCE, entries.length - most),
            total: entries.length,
          })}
        </Button>
      )}
    </>
  )
}

/** What is deep inside is drawn when somebody wants to see it. */
function Folded({ title, children }: { title: string; children: ReactNode }) {
  const [open, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="cursor-pointer text-muted">{title}</summary>
      {open && <div className="mt-2 border-l-2 border-line pl-3">{children}</div>}
    </details>
  )
}
