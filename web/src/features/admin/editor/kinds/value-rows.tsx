import { X } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'

import { isJson } from '~/features/form/schema/json'
import type { Step } from '~/features/form/schema/pointer'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Input, Textarea } from '~/kit/field'
import { focusSoon } from '../../focus-soon'
import type { Schema } from '../../schema/kinds'
import { useEditing, useInside } from '../context'
import { NOT_JSON } from '../fault-words'
import { isBelow, putAt } from '../inside'
import { described } from '../parts'
import { JsonInside } from './controls'
import { InsertMenu } from './insert-menu'
import { textOf } from './pairs'
import type { Source } from './steps'
import { memberOf, readValue, rowsOf, typesBesideText, type ValueRow } from './values'

interface Props {
  at: Step[]
  /** What the rows are of: for something else they begin anew. */
  of: string
  label: string
  hint: ReactNode
  /** The hint where it is written as JSON. */
  jsonHint: ReactNode
  /** What is said where no row is known. Without it that is written as JSON. */
  noRows?: string
  /** What the values are for, as far as that is known. */
  schema: unknown
  /** What stands there when no row has a value. */
  empty: Schema | undefined
  sources: Source[]
}

/**
 * Values by the names that a schema asks for, each a text that may hold expressions. Whatever rows cannot show is
 * written as JSON: two looks at the same, and neither drops anything.
 */
export function ValueRows(props: Props) {
  const { at, of, label, hint, jsonHint, noRows, schema, empty, sources } = props
  const { t } = useTranslation('kinds')
  const { unread, faults, changeAt } = useEditing()
  const { id, path, value, set, isFixed } = useInside('execution_spec', at)
  const rows = rowsOf(schema, value)
  const [asJson, setAsJson] = useState(rows.length === 0 && noRows === undefined)
  const [refused, setRefused] = useState(false)
  const isShowable = value === undefined || isJson(value)
  const isHalf = Object.keys(unread).some((place) => isBelow(place, path))
  const showsJson = asJson || !isShowable || unread[path] !== undefined
  const own = faults.filter((fault) => fault.path === path)
  const write = (name: string, entry: unknown) => {
    const next = putAt(isJson(value) ? value : {}, [name], entry)
    if (Object.keys(next).length === 0) set(empty)
    else changeAt('execution_spec', [...at, name], entry)
  }
  return (
    <div className="grid min-w-0 gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        {!showsJson && (
          <p id={`${id}-label`} className="font-medium">
            {label}
          </p>
        )}
        {isShowable && (
          <Button
            size="small"
            tone="quiet"
            className="ml-auto"
            aria-pressed={showsJson}
            aria-label={t('values_as_json', { name: label })}
            onClick={() => {
              setRefused(isHalf)
              if (!isHalf) setAsJson(!showsJson)
            }}
          >
            {t('as_json')}
          </Button>
        )}
      </div>
      {refused && isHalf && (
        <p role="alert" className="text-xs text-bad">
          {t('mend_first')}
        </p>
      )}
      {showsJson ? (
        // Whoever writes JSON goes on writing it, also once rows could show it.
        <div className="min-w-0" onFocus={() => setAsJson(true)}>
          <JsonInside of="execution_spec" at={at} label={label} hint={jsonHint} />
        </div>
      ) : (
        <div
          id={id}
          role="group"
          tabIndex={-1}
          aria-labelledby={`${id}-label`}
          className="grid min-w-0 gap-3 outline-none"
        >
          <p className="text-xs text-muted">{rows.length > 0 ? hint : noRows}</p>
          {rows.map((row) => (
            <Row
              key={`${of}/${row.name}`}
              at={[...at, row.name]}
              row={row}
              sources={sources}
              onChange={(entry) => write(row.name, entry)}
              onRemove={
                row.isKnown || isFixed
                  ? undefined
                  : () => {
                      write(row.name, undefined)
                      focusSoon(id)
                    }
              }
              came={memberOf(value, row.name)}
            />
          ))}
          {own.map(({ message }) => (
            <p key={message} className="text-xs text-bad">
              {message}
            </p>
          ))}
        </div>
      )}
    </div>
  )
}

interface RowProps {
  at: Step[]
  row: ValueRow
  /** What stands there when the row is first shown: its type is kept. */
  came: unknown
  sources: Source[]
  onChange: (value: unknown) => void
  onRemove?: () => void
}

function Row({ at, row, sources, onChange, onRemove, ...rest }: RowProps) {
  const { t } = useTranslation('kinds')
  const { t: admin } = useTranslation('admin')
  const { unread, keepUnread } = useEditing()
  const { id, path, value, isFixed, ...inside } = useInside('execution_spec', at)
  const [came] = useState(rest.came)
  const box = useRef<HTMLInputElement & HTMLTextAreaElement>(null)
  const half = unread[path]?.text
  const text = half ?? (value === undefined ? '' : textOf(value))
  // A box of one line would drop the breaks. It stays what it is, or it would lose the focus.
  const [Box] = useState(() => (text.includes('\n') ? Textarea : Input))
  const fault = half === undefined ? inside.fault : admin('editor.not_json')
  const hint = row.isKnown ? row.description : t('value_unknown')
  const type = (typed: string) => {
    const read = typed === '' ? undefined : readValue(typed, typesBesideText(row.types, came))
    keepUnread(path, typed === '' || read ? undefined : { why: NOT_JSON, text: typed })
    // An input that nobody fills in is not given; a row that is only there by its value would go with it.
    if (typed === '') onChange(row.isKnown ? undefined : '')
    else if (read) onChange(read.value)
  }
  return (
    <div className="grid min-w-0 gap-1">
      <label htmlFor={id} className="font-mono text-xs font-medium break-all">
        {row.name}
        {row.isRequired && (
          <span aria-hidden className="text-bad">
            {' '}
            *
          </span>
        )}
      </label>
      <div className="flex min-w-0 items-start gap-2">
        <Box
          ref={box}
          id={id}
          className="min-w-0 flex-1 font-mono"
          value={text}
          disabled={isFixed}
          aria-required={row.isRequired}
          aria-invalid={fault !== undefined}
          aria-describedby={described(id, hint, fault)}
          onChange={({ target }: { target: { value: string } }) => type(target.value)}
        />
        {!isFixed && <InsertMenu name={row.name} sources={sources} box={box} onChange={type} />}
        {onRemove && (
          <Button
            tone="quiet"
            size="icon"
            aria-label={t('value_remove', { name: row.name })}
            onClick={() => {
              keepUnread(path, undefined)
              onRemove()
            }}
          >
            <X aria-hidden />
          </Button>
        )}
      </div>
      {hint && (
        <p id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </p>
      )}
      {fault && (
        <p id={`${id}-fault`} className="text-xs text-bad">
          {fault}
        </p>
      )}
    </div>
  )
}
