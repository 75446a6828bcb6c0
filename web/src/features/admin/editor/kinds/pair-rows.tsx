import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ExternalLink, Plus, X } from 'lucide-react'
import { useRef, useState } from 'react'

import { useMay } from '~/api/me'
import { same } from '~/features/form/schema/json'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Input, Select } from '~/kit/field'
import { type Credential, credentials } from '../../credentials/queries'
import { focusSoon } from '../../focus-soon'
import { idOf, useEditing, useInside } from '../context'
import { PAIR_FAULTS } from '../fault-words'
import { faultsBelow, pathOf } from '../inside'
import { useInputSources } from './controls'
import { HostHint } from './host-hint'
import { InsertMenu } from './insert-menu'
import {
  faultOfPair,
  faultOfPairs,
  objectOf,
  type Pair,
  pairsOf,
  referenceTo,
  textOf,
  valueOf,
} from './pairs'

/** What stands for a secret that the server has and does not show. */
const STORED = '***'

interface Props {
  name: 'query' | 'headers'
  /** Whether values can hold no expressions. */
  isFixedText?: boolean
}

/** Names with values, one below the other. */
export function PairRows({ name, isFixedText = false }: Props) {
  const { t } = useTranslation('kinds')
  const { faults, unread, keepUnread, isOverride } = useEditing()
  const { id, path, value, set } = useInside('implementation', [name])
  const stored = pairsOf(value)
  const kept = unread[path]?.rows
  const [rows, setRows] = useState(kept ?? stored)
  // What came from elsewhere replaces the rows, and so does that nothing is unread any more. What is half typed stays.
  const isOther = !same(objectOf(rows) ?? {}, objectOf(stored) ?? {})
  if (isOther || (!kept && faultOfPairs(rows) !== faultOfPairs(stored))) setRows(stored)
  const change = (next: Pair[]) => {
    setRows(next)
    set(objectOf(next))
    // What no object can hold is kept beside it until it is mended.
    const why = faultOfPairs(next)
    keepUnread(path, why && { why: PAIR_FAULTS[why], rows: next })
  }
  const own = kept ? [] : faults.filter((fault) => fault.path === path)
  return (
    <div role="group" aria-labelledby={`${id}-label`} className="grid min-w-0 gap-2">
      <p id={`${id}-label`} className="font-medium">
        {t(name)}
      </p>
      {rows.map((pair, index) => (
        <PairRow
          // The place, not the name: that changes while it is typed.
          // oxlint-disable-next-line react/no-array-index-key
          key={index}
          id={`${id}-row-${index}`}
          of={name}
          takesInputs={!isFixedText}
          pair={pair}
          number={index + 1}
          own={faultOfPair(rows, index)}
          isFixed={isOverride}
          onChange={(changed) => change(rows.with(index, changed))}
          onRemove={() => {
            change(rows.toSpliced(index, 1))
            focusSoon(rows.length > 1 ? `${id}-row-${Math.max(0, index - 1)}` : id)
          }}
        />
      ))}
      {own.map(({ message }) => (
        <p key={message} className="text-xs text-bad">
          {message}
        </p>
      ))}
      {!isOverride && (
        <Button
          id={id}
          size="small"
          className="justify-self-start"
          onClick={() => {
            setRows([...rows, { name: '', value: '' }])
            focusSoon(`${id}-row-${rows.length}`)
          }}
        >
          <Plus aria-hidden />
          {t(`add_${name}`)}
        </Button>
      )}
      <p className="text-xs text-muted">
        {t(`${name}_hint`)} {name === 'headers' && <ManageCredentials />}
      </p>
    </div>
  )
}

interface RowProps {
  /** Of the box for the name. */
  id: string
  of: Props['name']
  takesInputs: boolean
  pair: Pair
  number: number
  own: ReturnType<typeof faultOfPair>
  isFixed: boolean
  onChange: (pair: Pair) => void
  onRemove: () => void
}

function PairRow({
  id: nameId,
  of,
  takesInputs,
  pair,
  number,
  own,
  isFixed,
  onChange,
  onRemove,
}: RowProps) {
  const { t } = useTranslation('kinds')
  const { faults } = useEditing()
  const path = pathOf('implementation', [of, pair.name])
  const id = own ? idOf(`/implementation/${of}-${number}`) : idOf(path)
  const told = own ? t(`pair_${own}`) : faultsBelow(faults, path)
  const value = textOf(pair.value)
  const described = told ? `${id}-fault` : undefined
  const known = useCredentials()
  const sources = useInputSources()
  const box = useRef<HTMLInputElement>(null)
  const chosen = of === 'headers' ? credentialIn(known, value) : undefined
  return (
    <div className="grid min-w-0 gap-1">
      <div className="flex min-w-0 flex-wrap items-center gap-2 sm:flex-nowrap">
        <Input
          id={nameId}
          aria-label={t(`${of}_name`, { number })}
          className="min-w-0 flex-1 basis-28 font-mono"
          value={pair.name}
          disabled={isFixed}
          placeholder={t('name')}
          aria-invalid={told !== undefined}
          aria-describedby={described}
          onChange={({ target }) => onChange({ ...pair, name: target.value })}
        />
        <Input
          ref={box}
          id={id}
          aria-label={t(`${of}_value`, { number })}
          className="min-w-0 flex-2 basis-28 font-mono"
          value={value}
          disabled={isFixed}
          placeholder={t('value')}
          aria-invalid={told !== undefined}
          aria-describedby={described}
          onChange={({ target }) => onChange({ ...pair, value: valueOf(target.value, pair.value) })}
        />
        {takesInputs && !isFixed && (
          <InsertMenu
            name={t(`insert_at.${of}`, { number })}
            sources={sources}
            box={box}
            onChange={(typed) => onChange({ ...pair, value: valueOf(typed, pair.value) })}
          />
        )}
        {of === 'headers' && !isFixed && known.length > 0 && (
          <CredentialPicker
            number={number}
            known={known}
            chosen={chosen}
            onChoose={(value) => onChange({ ...pair, value })}
          />
        )}
        {!isFixed && (
          <Button
            tone="quiet"
            size="icon"
            aria-label={t(`${of}_remove`, { number })}
            onClick={onRemove}
          >
            <X aria-hidden />
          </Button>
        )}
      </div>
      {value === STORED && <p className="text-xs text-muted">{t('stored_secret')}</p>}
      {told && (
        <p id={`${id}-fault`} className="text-xs text-bad">
          {told}
        </p>
      )}
      {chosen && !isFixed && <HostHint key={chosen.id} credential={chosen} returnTo={id} />}
    </div>
  )
}

/** The credentials that a header can name, as far as this person may see them. */
function useCredentials(): Credential[] {
  const { data } = useQuery({ ...credentials, enabled: useMay('credentials.tenant.read') })
  return data ?? NONE
}

const NONE: Credential[] = []

/** The credential that the value of a header names. */
function credentialIn(known: readonly Credential[], value: string): Credential | undefined {
  return known.find(({ label }) => value.endsWith(`secret:${label}`))
}

/** The way to the credentials, beside the editor: what is typed here stays. */
function ManageCredentials() {
  const { t } = useTranslation('kinds')
  if (!useMay('credentials.tenant.read')) return null
  return (
    <Link
      to="/admin/credentials"
      search={{}}
      target="_blank"
      className="whitespace-nowrap text-accent underline underline-offset-2"
    >
      {t('manage_credentials')}
      <ExternalLink aria-hidden className="ml-1 inline size-3" />
      <span className="sr-only"> {t('new_tab')}</span>
    </Link>
  )
}

interface PickerProps {
  number: number
  known: readonly Credential[]
  chosen: Credential | undefined
  onChoose: (value: string) => void
}

/** Puts the name of a credential where its secret is to stand. */
function CredentialPicker({ number, known, chosen, onChoose }: PickerProps) {
  const { t } = useTranslation('kinds')
  return (
    <Select
      aria-label={t('credential', { number })}
      className="min-w-0 flex-1 basis-48 sm:basis-28"
      value={chosen?.label ?? ''}
      onChange={({ target }) => {
        const found = known.find(({ label }) => label === target.value)
        if (found) onChoose(referenceTo(found))
      }}
    >
      <option value="">{t('no_credential')}</option>
      {known.map(({ id, label }) => (
        <option key={id} value={label}>
          {label}
        </option>
      ))}
    </Select>
  )
}
