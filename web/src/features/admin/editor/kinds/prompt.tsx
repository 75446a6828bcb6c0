import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef } from 'react'

import { useTranslation } from '~/i18n'
import { Field, Select, Textarea } from '~/kit/field'
import { useInside } from '../context'
import { described, NumberInput } from '../parts'
import { InputExpressions, useInputSources } from './controls'
import { InsertMenu } from './insert-menu'
import { models } from './queries'

/** A question to a language model. */
export default function PromptPanel() {
  const { t } = useTranslation('kinds')
  return (
    <>
      <LongText
        name="prompt_template"
        rows={8}
        hint={
          <>
            {t('prompt_template_hint')} <InputExpressions />
          </>
        }
        placeholder={`${t('prompt_template_example')} {{ input.text }}`}
      />
      <LongText name="system" rows={3} hint={t('system_hint')} />
      <div className="grid items-start gap-5 sm:grid-cols-3">
        <Model />
        <Output />
        <OutputTokens />
      </div>
    </>
  )
}

interface LongTextProps {
  name: 'prompt_template' | 'system'
  rows: number
  hint: ReactNode
  placeholder?: string
}

function LongText({ name, rows, hint, placeholder }: LongTextProps) {
  const { t } = useTranslation('kinds')
  const { id, value, set, fault, isFixed } = useInside('execution_spec', [name])
  const box = useRef<HTMLTextAreaElement>(null)
  const sources = useInputSources()
  const type = (text: string) => set(text === '' ? undefined : text)
  return (
    <Field id={id} label={t(name)} hint={hint} fault={fault}>
      <div className="flex min-w-0 items-start gap-2">
        <Textarea
          ref={box}
          id={id}
          rows={rows}
          className="min-w-0 flex-1 font-mono"
          placeholder={placeholder}
          value={typeof value === 'string' ? value : ''}
          disabled={isFixed}
          aria-invalid={fault !== undefined}
          aria-describedby={described(id, hint, fault)}
          onChange={({ target }) => type(target.value)}
        />
        {!isFixed && <InsertMenu name={t(name)} sources={sources} box={box} onChange={type} />}
      </div>
    </Field>
  )
}

function Model() {
  const { t } = useTranslation('kinds')
  const { id, value, set, fault, isFixed } = useInside('execution_spec', ['model'])
  const { data = [] } = useQuery(models)
  const name = typeof value === 'string' ? value : 'default'
  const known = data.find((model) => model.name === name)
  const names = known ? data.map((model) => model.name) : [name, ...data.map((model) => model.name)]
  const hint = known
    ? t(known.available ? 'model_hint' : 'model_no_key', { model: known.model })
    : t('model_unknown', { name })
  return (
    <Field id={id} label={t('model')} hint={hint} fault={fault}>
      <Select
        id={id}
        value={name}
        disabled={isFixed}
        aria-invalid={fault !== undefined}
        aria-describedby={described(id, hint, fault)}
        onChange={({ target }) => set(target.value)}
      >
        {names.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </Select>
    </Field>
  )
}

function Output() {
  const { t } = useTranslation('kinds')
  const { id, value, set, fault, isFixed } = useInside('execution_spec', ['output'])
  const hint = t('prompt_output_hint')
  return (
    <Field id={id} label={t('prompt_output')} hint={hint} fault={fault}>
      <Select
        id={id}
        value={value === 'json' ? 'json' : 'text'}
        disabled={isFixed}
        aria-invalid={fault !== undefined}
        aria-describedby={described(id, hint, fault)}
        onChange={({ target }) => set(target.value)}
      >
        <option value="text">{t('prompt_output_text')}</option>
        <option value="json">{t('prompt_output_json')}</option>
      </Select>
    </Field>
  )
}

function OutputTokens() {
  const { t } = useTranslation('kinds')
  const { path, value, set, fault, isFixed } = useInside('execution_spec', ['max_output_tokens'])
  return (
    <NumberInput
      path={path}
      label={t('max_output_tokens')}
      hint={t('max_output_tokens_hint')}
      value={typeof value === 'number' ? value : null}
      fault={fault}
      disabled={isFixed}
      onChange={(tokens) => set(tokens ?? undefined)}
    />
  )
}
