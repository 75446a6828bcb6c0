import { type ReactNode, useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import type { Step } from '~/features/form/schema/pointer'
import { Field, Input } from '~/kit/field'
import { useEditing, useInside } from '../context'
import { JsonBox } from '../json-box'
import { described } from '../parts'
import type { Inside } from '../use-typed'
import { expressionOf, inputNames } from './steps'

interface Common {
  of: Inside
  at: Step[]
  label: string
  hint?: ReactNode
}

/** A text inside of a part. An empty one is not sent. */
export function TextInside({
  of,
  at,
  label,
  hint,
  list,
  placeholder,
}: Common & { list?: string; placeholder?: string }) {
  const { id, value, set, fault, isFixed } = useInside(of, at)
  return (
    <Field id={id} label={label} hint={hint} fault={fault}>
      <Input
        id={id}
        className="font-mono"
        list={list}
        placeholder={placeholder}
        value={typeof value === 'string' ? value : ''}
        disabled={isFixed}
        aria-invalid={fault !== undefined}
        aria-describedby={described(id, hint, fault)}
        onChange={({ target }) => set(target.value === '' ? undefined : target.value)}
      />
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
