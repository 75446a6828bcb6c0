import { type ReactNode, useContext, useState } from 'react'

import { stringify } from '~/api/exact'
import { useLocale, useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { LongText } from '~/kit/long-text'
import { plain } from '~/kit/plain'
import { CurrencyContext } from '../controls/currency'
import { PictureInside } from '../controls/picture-inside'
import { WayOut } from '../controls/way-out'
import { isJson, type Json } from '../schema/json'
import { counted } from './counted'
import type { Place } from './place'

/** So much is shown at once; the rest when somebody wants it. */
const TEXT_SHOWN = 400
const LINES_SHOWN = 12
const ENTRIES_SHOWN = 20
const ENTRIES_MORE = 100
/** A longer text scrolls in a box of its own. */
const TEXT_AT_ONCE = 20_000
/** What is deeper inside is shown as it was sent. */
const DEEP_MAX = 5

interface Props {
  place: Place
  value: unknown
  depth?: number
}

/** The members of an object: what each is called, and what it is. */
export function ReadMembers({ place, value, depth = 0 }: Props & { value: Json }) {
  const [names, more] = useFirst(place.namesIn(value))
  return (
    <>
      <dl className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-x-6 gap-y-1 sm:grid-cols-[minmax(7rem,max-content)_minmax(0,1fr)] sm:gap-y-2">
        {names.map((name) => {
          const here = place.at(name)
          const inner = value[name]
          const isWide = isLarge(inner)
          return (
            <div key={name} className="contents">
              <dt
                className={cn(
                  'min-w-0 break-words text-muted max-sm:mt-1.5 sm:max-w-56',
                  isWide && 'sm:col-span-2 sm:max-w-none',
                )}
              >
                {here.label}
              </dt>
              <dd className={cn('min-w-0', isWide && 'border-l-2 border-line pl-3 sm:col-span-2')}>
                <ReadValue place={here} value={inner} depth={depth + 1} />
              </dd>
            </div>
          )
        })}
      </dl>
      {more}
    </>
  )
}

/** Whether a value needs lines of its own, below its name. */
function isLarge(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((entry) => typeof entry === 'object')
  return isJson(value) && Object.keys(value).length > 0
}

/** A value to be read, and not to be changed. Who is to judge it sees all that is there. */
export function ReadValue({ place, value, depth = 0 }: Props) {
  if (isJson(value) && Object.keys(value).length > 0) {
    if (depth > DEEP_MAX || !place.isDescribed) return <Json value={value} />
    return <ReadMembers place={place} value={value} depth={depth} />
  }
  if (Array.isArray(value) && value.length > 0) {
    if (depth > DEEP_MAX) return <Json value={value} />
    return isLarge(value) ? (
      <Entries place={place} value={value} depth={depth} />
    ) : (
      <Words place={place} value={value} />
    )
  }
  return <Single place={place} value={value} />
}

/** Objects below each other, each under its number. */
function Entries({ place, value, depth = 0 }: Props & { value: unknown[] }) {
  const [entries, more] = useFirst(value)
  return (
    <>
      <ol className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
        {entries.map((entry, index) => (
          <li key={index} className="flex min-w-0 gap-3">
            <span className="shrink-0 text-xs leading-5 text-muted tabular-nums">{index + 1}.</span>
            <div className="min-w-0 flex-1">
              <ReadValue place={place.at(index)} value={entry} depth={depth + 1} />
            </div>
          </li>
        ))}
      </ol>
      {more}
    </>
  )
}

function Words({ place, value }: { place: Place; value: unknown[] }) {
  const [entries, more] = useFirst(value)
  return (
    <>
      <ul className="flex min-w-0 flex-wrap gap-1.5">
        {entries.map((entry, index) => (
          <li key={index} className="min-w-0 rounded bg-sunken px-1.5 py-0.5">
            <Single place={place.at(index)} value={entry} />
          </li>
        ))}
      </ul>
      {more}
    </>
  )
}

/** The first of many, and the button that shows the others. */
function useFirst<Entry>(all: readonly Entry[]): [readonly Entry[], ReactNode] {
  const { t } = useTranslation('form')
  const [most, setMost] = useState(ENTRIES_SHOWN)
  const rest = all.length - most
  if (rest <= 0) return [all, undefined]
  // Thousands at once would hold up the page.
  const isLast = rest <= ENTRIES_MORE
  const label = isLast
    ? t('read.show_all_count', { count: all.length })
    : t('read.show_more', { count: ENTRIES_MORE, total: all.length })
  const button = (
    <Button size="small" className="mt-2" onClick={() => setMost(most + ENTRIES_MORE)}>
      {label}
    </Button>
  )
  return [all.slice(0, most), button]
}

/** Text, number, yes or no, or nothing. */
function Single({ place, value }: { place: Place; value: unknown }) {
  const { t } = useTranslation('form')
  const locale = useLocale()
  const currency = useContext(CurrencyContext)
  const isEmpty = value === null || value === undefined || value === ''
  if (isEmpty || typeof value === 'object') {
    return (
      <>
        <span aria-hidden className="text-muted">
          –
        </span>
        <span className="sr-only">{t('read.empty')}</span>
      </>
    )
  }
  const choice = place.choice(value)
  if (choice !== undefined) return <Text text={choice} />
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no')
  if (typeof value === 'number' || typeof value === 'bigint') {
    return <span className="tabular-nums">{counted(value, place.unit, currency, locale)}</span>
  }
  const text = String(value)
  if (place.isSecret) return <Secret text={text} label={place.label} />
  if (text.startsWith('data:')) {
    return (
      <span className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1.5">
        {t('file.inside')}
        <PictureInside value={text} label={place.label} />
      </span>
    )
  }
  return (
    <span className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1">
      <Text text={text} isCode={place.variant === 'code'} />
      <WayOut schema={place.schema} variant={place.variant} label={place.label} value={value} />
    </span>
  )
}

function Text({ text, isCode }: { text: string; isCode?: boolean }) {
  const { t } = useTranslation('form')
  const [isWhole, setWhole] = useState(false)
  const short = cut(text)
  return (
    <span className={cn('wrap-anywhere whitespace-pre-wrap', isCode && 'font-mono text-xs')}>
      {!isWhole ? (
        plain(short)
      ) : text.length <= TEXT_AT_ONCE ? (
        plain(text)
      ) : (
        <span
          role="group"
          aria-label={t('read.whole')}
          tabIndex={0}
          className="block max-h-96 overflow-auto rounded-md border border-line p-2"
        >
          <LongText text={text} />
        </span>
      )}
      {short.length < text.length && (
        <>
          {!isWhole && '… '}
          <Button
            size="small"
            className="ml-1"
            aria-expanded={isWhole}
            onClick={() => setWhole(!isWhole)}
          >
            {t(isWhole ? 'read.show_less' : 'read.show_all')}
          </Button>
        </>
      )}
    </span>
  )
}

/** The beginning of a long text. */
function cut(text: string): string {
  const lines = text.slice(0, TEXT_SHOWN).split('\n')
  return lines.slice(0, LINES_SHOWN).join('\n')
}

function Secret({ text, label }: { text: string; label: string }) {
  const { t } = useTranslation()
  const [isShown, setShown] = useState(false)
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-2">
      {isShown ? <Text text={text} /> : <span aria-hidden>••••••••</span>}
      <Button size="small" onClick={() => setShown(!isShown)}>
        {t(isShown ? 'conceal' : 'reveal', { label })}
      </Button>
    </span>
  )
}

/** What has no names for its parts, as it was sent. */
function Json({ value }: { value: unknown }) {
  return (
    <div className="max-h-96 overflow-auto rounded-md bg-raised p-2 font-mono text-xs" tabIndex={0}>
      <Text text={stringify(value, 2)} />
    </div>
  )
}
