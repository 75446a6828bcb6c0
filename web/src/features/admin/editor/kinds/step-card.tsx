import { useQuery } from '@tanstack/react-query'

import { useTranslation } from '~/i18n'
import { Field, Select } from '~/kit/field'
import { MoveButtons } from '../../move-buttons'
import type { Tool } from '../../types'
import { useEditing, useInside } from '../context'
import { pathOf } from '../inside'
import { described } from '../parts'
import { useSettled } from './callees'
import { Expressions, JsonInside, TextInside } from './controls'
import { catalogue } from './queries'
import { type ChainStep, ON_ERROR, type Source, withOnError } from './steps'
import { ValueRows } from './value-rows'

interface Props {
  step: ChainStep
  index: number
  count: number
  /** The tool that it calls, once that is known. */
  tool: Tool | undefined
  /** What its templates can say. */
  expressions: string[]
  sources: Source[]
  onChange: (step: ChainStep) => void
  onMove: (by: 1 | -1) => void
  onRemove: () => void
}

/** One step: which tool, with what, when, and what if it fails. */
export function StepCard(props: Props) {
  const { step, index, count, tool, expressions, sources, onChange, onMove, onRemove } = props
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
        <ToolPicker index={index} tool={tool} />
        <TextInside
          of="execution_spec"
          at={['steps', index, 'id']}
          label={t('step_id')}
          hint={t('step_id_hint')}
        />
      </div>
      <ValueRows
        of={`${step.id}/${tool?.slug}`}
        at={['steps', index, 'input']}
        label={t('step_input')}
        hint={t('step_rows_hint')}
        jsonHint={
          <>
            {t('step_input_hint')} <Expressions of={expressions} />
          </>
        }
        noRows={t(tool ? 'step_no_inputs' : 'step_no_tool')}
        schema={tool?.input_schema}
        empty={{}}
        sources={sources}
      />
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextInside
          of="execution_spec"
          at={['steps', index, 'when']}
          label={t('when')}
          hint={t('when_hint')}
          placeholder="input.amount > 100"
          sources={sources}
          insertName={t('insert_at.when')}
          isBare
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
function ToolPicker({ index, tool }: Pick<Props, 'index' | 'tool'>) {
  const { t } = useTranslation('kinds')
  const { base, definition } = useEditing()
  const at = ['steps', index, 'tool']
  const { id, value } = useInside('execution_spec', at)
  const typed = typeof value === 'string' ? value : ''
  const { data = [] } = useQuery(catalogue(useSettled(typed)))
  // No tool can call itself.
  const others = data.filter(({ slug }) => slug !== (base?.slug ?? definition.slug))
  return (
    <>
      <TextInside
        of="execution_spec"
        at={at}
        label={t('step_tool')}
        hint={tool?.name ?? t('step_tool_hint')}
        list={`${id}-list`}
      />
      <datalist id={`${id}-list`}>
        {others.map(({ slug, name }) => (
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
  const { unread, keepUnread, aside, setAside } = useEditing()
  const { id, value, fault, isFixed } = useInside('execution_spec', ['steps', index, 'on_error'])
  // The other value has no box while it is not asked for. It waits, so that another choice does not drop it.
  const choose = (word: string) => {
    const path = pathOf('execution_spec', ['steps', index, 'fallback'])
    const kept = 'fallback' in step ? { value: step.fallback, unread: unread[path] } : aside[path]
    if (kept) setAside((now) => ({ ...now, [path]: kept }))
    keepUnread(path, word === 'fallback' ? kept?.unread : undefined)
    onChange(withOnError({ fallback: kept?.value, ...step }, word))
  }
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
        onChange={({ target }) => choose(target.value)}
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
