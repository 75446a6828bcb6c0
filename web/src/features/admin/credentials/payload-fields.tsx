import { Plus, X } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Field, Input, Select } from '~/kit/field'
import { SecretInput } from '~/kit/secret-input'
import { described } from '../editor/parts'
import { focusSoon } from '../focus-soon'
import { SecretField, TextField } from './fields'
import {
  CREDENTIAL_TYPES,
  faultOfRow,
  pathOfText,
  type Row,
  SECRETS,
  type Typed,
  takesEndpoint,
  typeOf,
} from './payload'
import { idOf, type Sending } from './use-sending'

interface Props {
  typed: Typed
  sending: Sending
  onChange: (typed: Typed) => void
}

/** The type of a credential, and what is in one of that type. */
export function PayloadFields({ typed, sending, onChange }: Props) {
  const { t } = useTranslation('credentials')
  const { type, texts } = typed
  const put = (name: string, text: string) =>
    onChange({ ...typed, texts: { ...texts, [name]: text } })
  return (
    <>
      <TypeField typed={typed} sending={sending} onChange={onChange} />
      {SECRETS[type].map((name) => (
        <SecretField
          key={name}
          path={`/payload/${name}`}
          label={t(`field.${name}`)}
          hint={name === 'password' ? t('password_hint') : undefined}
          value={texts[name] ?? ''}
          sending={sending}
          onChange={(text) => put(name, text)}
        />
      ))}
      {takesEndpoint(type) && (
        <TextField
          path="/payload/endpoint"
          label={t('endpoint')}
          hint={t('endpoint_hint')}
          value={texts.endpoint ?? ''}
          placeholder="https://api.example.com"
          sending={sending}
          onChange={(text) => put('endpoint', text)}
        />
      )}
      {type === 'custom' && (
        <Rows
          rows={typed.rows}
          sending={sending}
          onChange={(rows) => onChange({ ...typed, rows })}
        />
      )}
    </>
  )
}

function TypeField({ typed, sending, onChange }: Props) {
  const { t } = useTranslation('credentials')
  const id = idOf('/type')
  const fault = sending.faultAt('/type')
  const hint = t(`type_hint.${typed.type}`)
  return (
    <Field id={id} label={t('type')} hint={hint} fault={fault}>
      <Select
        id={id}
        value={typed.type}
        aria-invalid={fault !== undefined}
        aria-describedby={described(id, hint, fault)}
        onChange={({ target }) => {
          sending.forget()
          onChange({ ...typed, type: typeOf(target.value) })
        }}
      >
        {CREDENTIAL_TYPES.map((type) => (
          <option key={type} value={type}>
            {t(`types.${type}`)}
          </option>
        ))}
      </Select>
    </Field>
  )
}

const MOST_ROWS = 32

interface RowsProps {
  rows: Row[]
  sending: Sending
  onChange: (rows: Row[]) => void
}

/** Texts under names of the person's choice. */
function Rows({ rows, sending, onChange }: RowsProps) {
  const { t } = useTranslation('credentials')
  const id = idOf('/payload')
  const fault = sending.faultAt('/payload')
  const change = (next: Row[]) => {
    sending.forget()
    onChange(next)
  }
  return (
    <div
      role="group"
      aria-labelledby={`${id}-label`}
      aria-describedby={described(id, true, fault)}
      className="grid min-w-0 gap-2"
    >
      <p id={`${id}-label`} className="font-medium">
        {t('texts')}
      </p>
      {rows.map((row, index) => (
        <TextRow
          // The place, not the name: that changes while it is typed.
          // oxlint-disable-next-line react/no-array-index-key
          key={index}
          number={index + 1}
          row={row}
          fault={sending.faultAt(rowPath(rows, index))}
          onChange={(row) => change(rows.with(index, row))}
          onRemove={
            rows.length > 1
              ? () => {
                  change(rows.toSpliced(index, 1))
                  focusSoon(rowId(Math.max(1, index)))
                }
              : undefined
          }
        />
      ))}
      {fault && (
        <p id={`${id}-fault`} className="text-xs text-bad">
          {fault}
        </p>
      )}
      <Button
        size="small"
        id={id}
        className="justify-self-start"
        disabled={rows.length >= MOST_ROWS}
        onClick={() => {
          onChange([...rows, { name: '', text: '' }])
          focusSoon(rowId(rows.length + 1))
        }}
      >
        <Plus aria-hidden />
        {t('add_text')}
      </Button>
      <p id={`${id}-hint`} className="text-xs text-muted">
        {t('texts_hint')}
      </p>
    </div>
  )
}

const rowId = (number: number) => idOf(`/row/${number}`)

/** Where a fault of a row is told: by its name, unless that is what is wrong. */
function rowPath(rows: Row[], index: number): string {
  return faultOfRow(rows, index) ? `/row/${index + 1}` : pathOfText(rows[index]?.name ?? '')
}

/** What keeps rows from being sent, each at its place. */
export function faultsOfRows({ type, rows }: Typed): { path: string; rule: string }[] {
  if (type !== 'custom') return []
  return rows.flatMap((_, index) => {
    const rule = faultOfRow(rows, index)
    return rule ? [{ path: rowPath(rows, index), rule }] : []
  })
}

/** The control at a place that the server names: a text of the person's choice is known by its row. */
export function idAt(path: string, { type, rows }: Typed): string {
  const index = type === 'custom' ? rows.findIndex(({ name }) => pathOfText(name) === path) : -1
  return index < 0 ? idOf(path) : rowId(index + 1)
}

/** Whether what is wrong at a place is told there. */
export function isShown(path: string, { type, rows }: Typed): boolean {
  if (path === '/type') return true
  if (type === 'custom') {
    return path === '/payload' || rows.some((_, index) => rowPath(rows, index) === path)
  }
  const names = takesEndpoint(type) ? [...SECRETS[type], 'endpoint'] : SECRETS[type]
  return names.some((name) => path === `/payload/${name}`)
}

interface RowProps {
  number: number
  row: Row
  fault: string | undefined
  onChange: (row: Row) => void
  onRemove?: () => void
}

function TextRow({ number, row, fault, onChange, onRemove }: RowProps) {
  const { t } = useTranslation('credentials')
  const id = rowId(number)
  const told = {
    'aria-invalid': fault !== undefined,
    'aria-describedby': fault ? `${id}-fault` : undefined,
  }
  return (
    <div className="grid min-w-0 gap-1">
      <div className="flex min-w-0 flex-wrap items-start gap-2 sm:flex-nowrap">
        <Input
          id={id}
          aria-label={t('text_name', { number })}
          className="min-w-0 flex-1 basis-full font-mono sm:basis-28"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          placeholder={t('name')}
          value={row.name}
          onChange={({ target }) => onChange({ ...row, name: target.value })}
          {...told}
        />
        <SecretInput
          isLong
          name={t('text_value', { number })}
          aria-label={t('text_value', { number })}
          className="flex-2 basis-40"
          placeholder={t('text')}
          value={row.text}
          onChange={({ target }) => onChange({ ...row, text: target.value })}
          {...told}
        />
        {onRemove && (
          <Button
            tone="quiet"
            size="icon"
            aria-label={t('text_remove', { number })}
            onClick={onRemove}
          >
            <X aria-hidden />
          </Button>
        )}
      </div>
      {fault && (
        <p id={`${id}-fault`} className="text-xs text-bad">
          {fault}
        </p>
      )}
    </div>
  )
}
