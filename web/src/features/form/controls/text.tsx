import type { ReactNode } from 'react'

import { Input, Textarea } from '~/kit/field'
import { plain } from '~/kit/plain'
import { SecretInput } from '~/kit/secret-input'
import { list, text } from '../schema/json'
import { aria, type ControlProps, shown } from './props'

const TYPES: Record<string, string> = { email: 'email', uri: 'url', iri: 'url' }

export function TextControl(props: ControlProps) {
  const { id, schema, look, value, onChange, onBlur, readOnly } = props
  const phone = schema['x-toolwright-type'] === 'phone'
  const examples = list(schema.examples).filter((entry) => typeof entry === 'string')
  const listId = examples.length > 0 && !readOnly ? `${id}-examples` : undefined
  return (
    <WithUnit {...props}>
      <Input
        id={id}
        type={phone ? 'tel' : (TYPES[text(schema.format) ?? ''] ?? 'text')}
        value={readOnly ? plain(shown(value)) : shown(value)}
        readOnly={readOnly}
        placeholder={look.placeholder ?? example(examples)}
        list={listId}
        onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
        onBlur={onBlur}
        {...aria(props)}
      />
      {listId && (
        <datalist id={listId}>
          {examples.map((entry) => (
            <option key={entry} value={entry} />
          ))}
        </datalist>
      )}
    </WithUnit>
  )
}

function example(examples: string[]): string | undefined {
  return examples[0]
}

export function TextareaControl(props: ControlProps) {
  const { id, schema, look, value, onChange, onBlur, readOnly } = props
  const code = (look.variant ?? schema['x-variant']) === 'code'
  return (
    <Textarea
      id={id}
      rows={look.rows ?? 4}
      value={readOnly ? plain(shown(value)) : shown(value)}
      readOnly={readOnly}
      placeholder={look.placeholder ?? text(list(schema.examples)[0])}
      spellCheck={code ? false : undefined}
      className={code ? 'font-mono text-xs' : undefined}
      onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
      onBlur={onBlur}
      {...aria(props)}
    />
  )
}

export function PasswordControl(props: ControlProps) {
  const { id, look, label, value, onChange, onBlur, readOnly } = props
  return (
    <SecretInput
      id={id}
      name={label}
      value={shown(value)}
      readOnly={readOnly}
      placeholder={look.placeholder}
      onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
      onBlur={onBlur}
      {...aria(props)}
    />
  )
}

/** A control with its unit behind it. What is short is not drawn long. */
export function WithUnit(props: ControlProps & { children: ReactNode; narrow?: boolean }) {
  const { id, schema, look, children, narrow } = props
  const unit = look.unit ?? text(schema['x-unit'])
  const wide = narrow ? 'w-full max-w-60 min-w-0' : 'min-w-0 flex-1'
  if (!unit) return narrow ? <div className={wide}>{children}</div> : children
  return (
    <div className="flex min-w-0 items-center gap-2">
      <div className={wide}>{children}</div>
      <span id={`${id}-unit`} className="max-w-1/2 shrink-0 text-xs break-words text-muted">
        {unit === 'percent' ? '%' : unit}
      </span>
    </div>
  )
}
