import { type ReactNode, useMemo, useRef } from 'react'

import type { Step } from '~/features/form/schema/pointer'
import { useTranslation } from '~/i18n'
import { Field, Input } from '~/kit/field'
import { useEditing, useInside } from '../context'
import { JsonBox } from '../json-box'
import { described } from '../parts'
import type { Inside } from '../use-typed'
import { InsertMenu } from './insert-menu'
import { expressionOf, inputNames, type Source, sourcesAt } from './steps'

interface Common {
  of: Inside
  at: Step[]
  label: string
  hint?: ReactNode
}

interface TextProps extends Common {
  list?: string
  placeholder?: string
  /** What can be inserted where the cursor is. */
  sources?: Source[]
  /** What the menu calls the box. */
  insertName?: string
  isBare?: boolean
}

const NO_SOURCES: Source[] = []

/** A text inside of a part. An empty one is not sent. */
export function TextInside({
  of,
  at,
  label,
  hint,
  list,
  placeholder,
  sources = NO_SOURCES,
  insertName = label,
  isBare,
}: TextProps) {
  const { id, value, set, fault, isFixed } = useInside(of, at)
  const box = useRef<HTMLInputElement>(null)
  const type = (text: string) => set(text === '' ? undefined : text)
  return (
    <Field id={id} label={label} hint={hint} fault={fault}>
      <div className="flex min-w-0 gap-2">
        <Input
          ref={box}
          id={id}
          className="min-w-0 flex-1 font-mono"
          list={list}
          placeholder={placeholder}
          value={typeof value === 'string' ? value : ''}
          disabled={isFixed}
          aria-invalid={fault !== undefined}
          aria-describedby={described(id, hint, fault)}
          onChange={({ target }) => type(target.value)}
        />
        {!isFixed && (
          <InsertMenu
            name={insertName}
            sources={sources}
            box={box}
            onChange={type}
            isBare={isBare}
          />
        )}
      </div>
    </Field>
  )
}

interface JsonProps extends Common {
  /** What may stand there; anything may without it. */
  fits?: (value: unknown) => boolean
}

/** Something inside of a part as JSON. An empty box is not sent. */
export function JsonInside({ of, at, label, hint, fits = anything }: JsonProps) {
  const { id, path, value, set, fault, isFixed } = useInside(of, at)
  return (
    <JsonBox
      id={id}
      path={path}
      label={label}
      hint={hint}
      value={value}
      fits={fits}
      onChange={set}
      isInvalid={fault !== undefined}
      isReadOnly={isFixed}
      faults={fault && <p>{fault}</p>}
    />
  )
}

function anything() {
  return true
}

/** The names of what the tool is given. */
export function useInputs(): string[] {
  const { input_schema } = useEditing().definition
  return useMemo(() => inputNames(input_schema), [input_schema])
}

/** The inputs of the tool, down to their fields, for a menu. */
export function useInputSources(): Source[] {
  const { input_schema } = useEditing().definition
  return useMemo(() => sourcesAt(input_schema, [], () => ({})), [input_schema])
}

/** What can be put into a template here. */
export function Expressions({ of }: { of: string[] }) {
  const { t } = useTranslation('kinds')
  if (of.length === 0) return <span>{t('no_inputs')}</span>
  return (
    <span>
      {t('expressions')}{' '}
      {of.map((text, index) => (
        <span key={text}>
          {index > 0 && ', '}
          <code className="inline-block max-w-full break-words">{text}</code>
        </span>
      ))}
    </span>
  )
}

export function InputExpressions() {
  return <Expressions of={useInputs().map(expressionOf)} />
}
