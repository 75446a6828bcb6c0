import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { useTranslation } from 'react-i18next'

import { Field, Select } from '~/kit/field'
import { MoveButtons } from '../../move-buttons'
import { toolOf } from '../../queries'
import { useEditing, useInside } from '../context'
import { described } from '../parts'
import { Expressions, JsonInside, TextInside } from './controls'
import { catalogue } from './queries'
import { type ChainStep, inputNames, ON_ERROR, withOnError } from './steps'

interface Props {
  step: ChainStep
  index: number
  count: number
  /** What its templates can say. */
  expressions: string[]
  onChange: (step: ChainStep) => void
  onMove: (by: 1 | -1) => void
  onRemove: () => void
}

/** One step: which tool, with what, when, and what if it fails. */
export function StepCard({ step, index, count, expressions, onChange, onMove, onRemove }: Props) {
  const { t } = useTranslation('kinds')
  const { isOverride } = useEditing()
  const { id, path } = useInside('execution_spec', ['steps', index])
  const { faults } = useEditing()
  const own = faults.find((fault) => fault.path === path)?.message
  const number = index + 1
  return (
    <div
      id={id}
      role="group"
      tabIndex={-1}
      aria-label={t('step', { number })}
      className="grid min-w-0 gap-4 rounded-lg border border-line p-4 focus:border-accent focus:outline-none"
      onKeyDown={(event) => {
        if (!event.altKey || isOverride) return
        if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
        // Inside of a text the editor moves lines by the same keys.
        if ((event.target as Element).closest('.cm-editor')) return
        event.preventDefault()
        onMove(event.key === 'ArrowUp' ? -1 : 1)
      }}
    >
      <div className="flex items-center gap-1">
        <p className="mr-auto font-medium">{t('step', { number })}</p>
        {!isOverride && (
          <MoveButtons
            name={t('step_named', { number })}
            isFirst={index === 0}
            isLast={index === count - 1}
            onMove={onMove}
            onRemove={onRemove}
            hasKeys
          />
        )}
      </div>
      {own && <p className="text-xs text-bad">{own}</p>}
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <ToolPicker index={index} />
        <TextInside
          of="execution_spec"
          at={['steps', index, 'id']}
          label={t('step_id')}
          hint={t('step_id_hint')}
        />
      </div>
      <JsonInside
        of="execution_spec"
        at={['steps', index, 'input']}
        label={t('step_input')}
        hint={
          <>
            {t('step_input_hint')} <Expressions of={expressions} />
          </>
        }
      />
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextInside
          of="execution_spec"
          at={['steps', index, 'when']}
          label={t('when')}
          hint={t('when_hint')}
          placeholder="input.amount > 100"
        />
        <OnError index={index} step={step} onChange={onChange} />
      </div>
      {(step.on_error === 'fallback' || 'fallback' in step) && (
        <JsonInside
          of="execution_spec"
          at={['steps', index, 'fallback']}
          label={t('fallback')}
          hint={t('fallback_hint')}
          fits={(value) => value !== undefined}
        />
      )}
    </div>
  )
}

/** The tool that a step calls, found by what is typed. */
function ToolPicker({ index }: { index: number }) {
  const { t } = useTranslation('kinds')
  const at = ['steps', index, 'tool']
  const { id, value } = useInside('execution_spec', at)
  const typed = typeof value === 'string' ? value : ''
  const { data = [] } = useQuery(catalogue(useDeferredValue(typed)))
  const isKnown = data.some(({ slug }) => slug === typed)
  // What is half typed is no tool that could be asked for.
  const { data: tool } = useQuery({ ...toolOf(typed), enabled: isKnown, staleTime: 30_000 })
  const takes = isKnown && tool?.slug === typed ? inputNames(tool.input_schema).join(', ') : ''
  return (
    <>
      <TextInside
        of="execution_spec"
        at={at}
        label={t('step_tool')}
        hint={takes ? t('step_takes', { names: takes }) : t('step_tool_hint')}
        list={`${id}-list`}
      />
      <datalist id={`${id}-list`}>
        {data.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </datalist>
    </>
  )
}

function OnError({ index, step, onChange }: Pick<Props, 'index' | 'step' | 'onChange'>) {
  const { t } = useTranslation('kinds')
  const { id, value, fault, isFixed } = useInside('execution_spec', ['steps', index, 'on_error'])
  const word = typeof value === 'string' ? value : 'stop'
  const words = ON_ERROR.some((one) => one === word) ? ON_ERROR : [word, ...ON_ERROR]
  return (
    <Field id={id} label={t('on_error')} fault={fault}>
      <Select
        id={id}
        value={word}
        disabled={isFixed}
        aria-invalid={fault !== undefined}
        aria-describedby={described(id, undefined, fault)}
        onChange={({ target }) => onChange(withOnError(step, target.value))}
      >
        {words.map((one) => (
          <option key={one} value={one}>
            {t(`on_error_${one}`, { defaultValue: one })}
          </option>
        ))}
      </Select>
    </Field>
  )
}
